// story.js - the words of a room: what is seen, where it comes from, and exercises that the page checks.
import { answer, listed } from './api.js';
import { field, fresh, h } from './dom.js';
import { brief } from './number.js';
import { text } from './place.js';

const ARXIV = /arXiv:(\d{4}\.\d{4,5})/g;

/** The head of a room: its title, its sentences side by side, and the papers that resources name as their source.
 * @param {string} title @param {string[]} sentences @param {(import('./listing.js').Resource | undefined)[]} resources */
export function story(title, sentences, resources) {
    const found = new Set(resources.flatMap((each) => [...(each?.source ?? '').matchAll(ARXIV)].map(([, id]) => id)));
    const papers = [...found].map((id, i) => [
        i === 0 ? 'Papers: ' : ', ',
        h('a', { href: `https://arxiv.org/abs/${id}`, rel: 'noreferrer' }, `arXiv:${id}`),
    ]);
    const words = sentences.map((sentence) => h('p', sentence));
    return h('div.story', h('h1', title), h('div.sentences', words), h('p.papers', papers));
}

/** Words that the server has first to be asked for. @param {Promise<string>} coming */
export function later(coming) {
    const words = h('span', '…');
    coming.then((text) => words.replaceChildren(text)).catch(() => undefined); // The line says that it is away.
    return words;
}

/**
 * A question with a number for an answer, which the server gives.
 * @typedef {object} Exercise
 * @property {string} question
 * @property {string} [unit]
 * @property {() => Promise<number>} [answer]
 * @property {[path: string, values: Record<string, string>, name?: string]} [of] numbers of which it is one, in place of `answer`
 * @property {number} [at] its index, the first without; from the end below 0
 * @property {number} [within] relative distance that still counts as right
 */

/** What a text may mean as a number. A comma groups thousands or begins the decimals; where it may do either, it may
 * mean both. @param {string} text */
function readings(text) {
    const plain = text.replace(/[\s\u202f]/g, '').replace('−', '-');
    const grouped = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain) ? [plain.replaceAll(',', '')] : [];
    return [...grouped, plain.replace(',', '.')].map((each) => (each === '' ? NaN : Number(each)));
}

/** @param {Exercise} asked */
function exercise({ question, unit = '', answer: asked, of, at = 0, within = 0.005 }) {
    const id = fresh('exercise');
    const input = field('number', { id, inputmode: 'decimal' });
    const verdict = h('p.verdict', { role: 'status' });
    const submit = /** @param {Event} event */ async (event) => {
        event.preventDefault();
        const given = readings(input.value).filter((each) => !Number.isNaN(each));
        if (given.length === 0) return void (verdict.textContent = 'A number is asked for.');
        try {
            const [path, values, name] = of ?? [''];
            const found = path === '' ? {} : await listed(await answer(path, values ?? {}));
            const list = name === undefined ? Object.values(found)[0] : found[name];
            const right = Number(list ? list.at(at) : await asked?.());
            const far = within * Math.max(Math.abs(right), Number.MIN_VALUE);
            const near = given.some((each) => Math.abs(each - right) <= far);
            verdict.textContent = near ? `Right: ${brief(right, 10)} ${unit}` : 'Not yet. The figures above have it.';
        } catch (error) {
            verdict.textContent = /** @type {Error} */ (error).message;
        }
    };
    return h('form.exercise', { onsubmit: submit }, [
        h('label', { for: id }, question),
        h('div.control-row', input, unit && h('span.unit', unit), h('button', 'Check')),
        verdict,
    ]);
}

/** The foot of a room: its questions side by side, and its notes.
 * @param {Exercise[]} asked @param {import('./dom.js').Children[]} notes */
export function foot(asked, notes) {
    const words = notes.map((note) => h('p.aside', note));
    if (asked.length === 0) return words;
    return [h('div.story.exercises', h('h2', 'Check yourself'), h('div.questions', asked.map(exercise)), words)];
}

/** Phrases of a sentence, each of which leads to the picture that it speaks of. @param {string} room
 * @param {[words: string, values: Record<string, string>][]} list */
export const phrases = (room, list) =>
    h('p.phrases', [
        list.map(([words, values], i) => [i > 0 && ', ', h('a.phrase', { href: text(room, '', values) }, words)]),
        list.length > 0 && '.',
    ]);
