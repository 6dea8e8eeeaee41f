// words.js - a sentence in two orders: what attention sees of it without positions, and with them.
import { posted } from '../parts/api.js';
import { h } from '../parts/dom.js';
import { brief, clamp, digits, hex } from '../parts/number.js';
import { legend, scaleOf } from '../parts/palette.js';
import { ALONG, drag, keys, pointed } from '../parts/pointers.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { grid, scrolled } from '../parts/table.js';
import { posting, take } from '../parts/take.js';
import { CHANNELS, map, split, vector } from './maps.js';
import { scores, shareFormula } from './softmax.js';

/** @typedef {'none' | 'sinusoidal' | 'rope' | 'alibi'} Scheme */
/** @typedef {(order: number, query: number, key: number) => number} Shares order 0: as typed, 1: as moved; by typed words */
/** @typedef {{words: string[], order: number[], seed: string, causal: boolean}} State the order: as it is read */

const SENTENCE = 'dog bites man';
const SEED = '1';
const WORDS_MAX = 10;
const LETTERS_MAX = 20;
const SLOPE = 0.5;
const MOVE_MS = 160;
const HELP = 'Drag a word to another place, or choose it and press ← or →.';

/** @type {Record<Scheme, string>} */
const NAMES = { none: 'No position', sinusoidal: 'Sinusoid added', rope: 'RoPE', alibi: `ALiBi, slope ${SLOPE}` };

/** @param {string} text */
const wordsOf = (text) => split(text, WORDS_MAX).map((word) => word.slice(0, LETTERS_MAX));

/** The order that the address names; without one, the words stand as they were typed. @param {string} text @param {number} n */
function orderOf(text, n) {
    const typed = Array.from({ length: n }, (_, i) => i);
    const order = text.split(',').map(Number);
    return order.length === n && typed.every((i) => order.includes(i)) ? order : typed;
}

/** The order with equal words in their typed order: those who read see no difference between them.
 * @param {string[]} words @param {number[]} order */
function read(words, order) {
    const left = [...words.keys()];
    const next = /** @param {number} i */ (i) => left.findIndex((each) => words[each] === words[i]);
    return order.map((i) => left.splice(next(i), 1)[0]);
}

/** Both orders in one request. @param {State} state @param {Scheme} scheme */
function bodyOf({ words, order, seed, causal }, scheme) {
    const both = /** @param {'query' | 'key'} role */ (role) => {
        const typed = words.map((word) => vector(word, role, seed));
        return [typed, order.map((i) => typed[i])];
    };
    const slope = scheme === 'alibi' ? { slope: SLOPE } : {};
    return { q: both('query'), k: both('key'), scheme, ...slope, ...(causal ? { causal } : {}) };
}

/** @param {ReturnType<typeof bodyOf>} body @param {number[]} order @param {AbortSignal} [signal] @returns {Promise<Shares>} */
async function attention(body, order, signal) {
    const data = await posted('/v1/attention', body, signal);
    const n = order.length;
    const place = order.map((_, i) => order.indexOf(i));
    return (which, query, key) => (which === 0 ? data[query * n + key] : data[(n + place[query]) * n + place[key]]);
}

/** The shares of attention, and the scores of the moved sentence that explain them.
 * @param {State} state @param {Scheme} scheme @param {AbortSignal} signal */
async function look(state, scheme, signal) {
    const body = bodyOf(state, scheme);
    const moved = { q: body.q[1], k: body.k[1], scheme };
    const [shares, all] = await Promise.all([attention(body, state.order, signal), scores(moved, signal)]);
    return { shares, scores: all };
}

/** A share of a sentence as it is typed. @param {string} text @param {Scheme} scheme @param {number} query @param {number} key */
async function answerOf(text, scheme, query, key) {
    const words = wordsOf(text);
    const state = { words, order: [...words.keys()], seed: SEED, causal: false };
    const body = Object.assign(bodyOf(state, scheme), { dtype: 'float64' });
    return (await attention(body, state.order))(0, query, key);
}

/** How many numbers are others in the new order, in words.
 * @param {Shares} shares @param {number[]} order @param {Scheme} scheme @param {boolean} moved a word was moved */
function verdict(shares, order, scheme, moved) {
    if (!moved) return 'Nothing has moved yet: move a word, and the new map stands beside this one.';
    const all = order.flatMap((query) => order.map((key) => Math.abs(shares(1, query, key) - shares(0, query, key))));
    const changed = all.filter((by) => by > 0);
    if (changed.length > 0)
        return `${changed.length} of ${all.length} numbers have changed, the largest by ${brief(Math.max(...changed), 3)}.`;
    const why = scheme === 'alibi' ? ' ALiBi knows distances alone, and this order keeps them.' : '';
    const still = order.every((i, at) => i === at);
    const words = still ? 'The sentence reads as before.' : `Only rows and columns have moved.${why}`;
    return `All ${all.length} numbers are the same, bit for bit. ${words}`;
}

/** The words as tiles in a row that are dragged, or moved by arrow keys. */
class Tiles {
    /** @param {(order: number[], done: boolean) => void} change */
    constructor(change) {
        this.change = change;
        /** @private */ this.list = h('ol.words', { 'aria-label': 'Words in their new order' });
        /** @private */ this.said = h('p.help', { role: 'status' });
        /** @private @type {HTMLLIElement[]} */ this.items = [];
        /** @private @type {number[]} */ this.order = [];
        /** @private */ this.still = matchMedia('(prefers-reduced-motion: reduce)');
        this.element = h('div.tiles', this.list, this.said);
    }

    /** The tile that is held stays in the document, and the others move around it.
     * @param {HTMLLIElement | null} held */
    #arrange(held) {
        const before = this.items.map((item) => item.getBoundingClientRect());
        const row = this.order.map((i) => this.items[i]);
        const at = held === null ? -1 : row.indexOf(held);
        row.slice(0, Math.max(0, at)).forEach((item) => held?.before(item));
        row.slice(at + 1).forEach((item) => this.list.append(item));
        if (this.still.matches) return;
        this.items.forEach((item, i) => {
            const now = item.getBoundingClientRect();
            const transform = `translate(${before[i].left - now.left}px, ${before[i].top - now.top}px)`;
            if (before[i].width > 0) item.animate([{ transform }, {}], { duration: MOVE_MS });
        });
    }

    /** @param {number} word @param {number} to @param {boolean} done */
    #move(word, to, done) {
        const rest = this.order.filter((i) => i !== word);
        const target = clamp(to, 0, rest.length);
        if (target === this.order.indexOf(word)) return;
        this.order = [...rest.slice(0, target), word, ...rest.slice(target)];
        this.#arrange(this.items[word]);
        this.said.textContent = `${this.items[word].textContent} is now word ${target + 1} of ${this.order.length}.`;
        this.change(this.order, done);
    }

    /** @param {string} word @param {number} i */
    #tile(word, i) {
        const button = h('button.word', { type: 'button', 'aria-describedby': 'words-help' }, word);
        keys(button, ALONG, (by) => this.#move(i, this.order.indexOf(i) + by, true));
        drag(button, {
            // To the place of the tile that is nearest to the pointer.
            move: (event) => {
                const far = this.order.map((each) => {
                    const { left, width, top, height } = this.items[each].getBoundingClientRect();
                    return Math.hypot(event.clientX - left - width / 2, 4 * (event.clientY - top - height / 2));
                });
                this.#move(i, far.indexOf(Math.min(...far)), false);
            },
            end: () => this.change(this.order, true),
        });
        return h('li', button);
    }

    /** @param {string[]} words @param {number[]} order */
    show(words, order) {
        if (this.items.map((item) => item.textContent).join(' ') !== words.join(' ')) {
            this.items = words.map((word, i) => this.#tile(word, i));
            this.list.replaceChildren();
        }
        if (this.list.childElementCount > 0 && order.join() === this.order.join()) return;
        this.order = order;
        this.#arrange(null);
    }
}

/** One scheme: its maps, and what they come to. @param {() => ReturnType<typeof bodyOf>} body */
function panel(body) {
    const head = h('h2');
    const maps = h('div.maps', { tabindex: 0, role: 'group', 'aria-label': 'Maps' });
    const said = h('p.said', { role: 'status' });
    const along = take(() => {
        const asked = body();
        const words = asked.q[0].length;
        return posting('/v1/attention', asked, [2, words, words], 'probabilities', 'float32');
    });
    return {
        maps,
        element: h('section.scheme', head, maps, h('div.panels', along)),
        /** @param {Scheme} scheme @param {State} state @param {Shares} shares @param {boolean} moved */
        show: (scheme, { words, order }, shares, moved) => {
            const typed = [...words.keys()];
            head.textContent = NAMES[scheme];
            maps.setAttribute('aria-label', `${NAMES[scheme]}: maps of words. Arrow keys choose a pair.`);
            said.textContent = verdict(shares, order, scheme, moved);
            const change = /** @type {Parameters<typeof map>[3]} */ ((q, k) => shares(1, q, k) - shares(0, q, k));
            maps.replaceChildren(map('as typed', words, typed, (q, k) => shares(0, q, k), false));
            if (moved)
                maps.append(
                    map('as moved', words, order, (q, k) => shares(1, q, k), false),
                    map('moved − typed', words, typed, change, true),
                );
            maps.append(said);
        },
    };
}

class Words extends Room {
    usual = { s: SENTENCE, third: 'rope', sees: 'all words', seed: SEED };
    fields = [
        this.control(['sentence', 'text', `Up to ${WORDS_MAX} words.`], 's', { at: null, to: null }),
        this.control(['third panel', ['rope', 'alibi']], 'third', { at: null }),
        this.control(['each word sees', ['all words', 'earlier words']], 'sees', { at: null }),
    ];
    tiles = new Tiles((order, done) => {
        this.set({ to: order.every((word, i) => word === i) ? null : order.join(',') }, done);
    });
    panels = [0, 1, 2].map((i) => panel(() => bodyOf(this.#state(), this.#schemes[i])));
    readout = new Readout();
    made = scrolled('Word vectors');
    /** What is shown of each scheme, and of which state. @private */
    seen = { of: '', all: /** @type {Awaited<ReturnType<typeof look>>[]} */ ([]) };
    ask = this.asks(undefined, { patient: true });
    notes = [
        [
            'It is often said that attention without positions knows nothing of order. That holds while every word ' +
                'sees every word. Under a causal mask the first word sees itself alone and the third sees three: ' +
                'for “so so so” the shares are 1, then 1/2, then 1/3, and a decoder can learn positions from that (',
            h('a', { href: 'https://arxiv.org/abs/2203.16634', rel: 'noreferrer' }, 'arXiv:2203.16634'),
            '). Choose “earlier words” to see it.',
        ],
    ];

    layout() {
        const choose = /** @param {string} pair */ (pair) => {
            if (pair === this.place.get('at')) return;
            this.place.set({ at: pair });
            this.#point();
        };
        const arrow = /** @param {number[]} by columns and rows */ ([along, down]) => {
            const last = this.#state().words.length - 1;
            const at = this.place.get('at');
            const [query, key] = at === '' ? [-down, -along] : at.split(',').map(Number);
            choose([query + down, key + along].map((n) => clamp(n, 0, last)).join(','));
        };
        for (const { maps } of this.panels) pointed(maps, 'data-pair', choose, arrow);
        const seed = this.control(['seed', 'integer', 'Another seed, other word vectors.'], 'seed', { at: null });
        return [
            this.phrases(),
            h('div.panel.fields', this.fields),
            h('p.help.panel', { id: 'words-help' }, HELP),
            // The tiles stay on the screen while what they move is seen.
            h('div', [
                this.tiles,
                h('div.trio', this.panels),
                h('div.heat-foot', legend(scaleOf(-1, 1)), h('span.note', 'share of attention, and its change')),
                this.readout,
            ]),
            h('div.story.made', [
                h('p.note', [
                    `The words' vectors are hashed: ${CHANNELS} numbers for its query and ${CHANNELS} for its key, from the ` +
                        'letters and a seed. They stand for no meaning, and the same word has the same vector. All else is computed by ',
                    h('code', 'POST /v1/attention'),
                    ', and the scores in the formulas by ',
                    h('code', 'POST /v1/rope/scores'),
                    '.',
                ]),
                h('div.panel.fields', seed),
                h('details.source', h('summary', 'The word vectors'), this.made),
            ]),
        ];
    }

    /** @returns {State} */
    #state() {
        const words = wordsOf(this.get('s'));
        const order = read(words, orderOf(this.place.get('to'), words.length));
        return { words, order, seed: this.get('seed'), causal: this.get('sees') === 'earlier words' };
    }

    get #schemes() {
        return /** @type {Scheme[]} */ (['none', 'sinusoidal', this.get('third')]);
    }

    load() {
        const [state, schemes] = [this.#state(), this.#schemes];
        const { words, seed } = state;
        const order = orderOf(this.place.get('to'), words.length);
        const moved = order.some((word, i) => word !== i);
        this.tiles.show(words, order);
        const rows = words.flatMap((word) =>
            ['query', 'key'].map((role) =>
                h('tr', [
                    h('th', { scope: 'row' }, `${word}, ${role}`),
                    vector(word, role, seed).map((number) => h('td', digits(number))),
                ]),
            ),
        );
        const hashed = `Numbers of a hash of each word and seed ${seed}; no model made them`;
        this.made.replaceChildren(grid({}, hashed, [], rows));
        void this.ask.ask(
            [state, schemes, moved],
            (signal) => Promise.all(schemes.map((scheme) => look(state, scheme, signal))),
            (all) => {
                this.seen = { of: JSON.stringify([state, schemes]), all };
                this.panels.forEach((each, i) => each.show(schemes[i], state, all[i].shares, moved));
                this.#point();
            },
        );
    }

    /** Show the pair of words that the address names, in every map. */
    #point() {
        const [state, schemes] = [this.#state(), this.#schemes];
        const { words, order, causal } = state;
        const at = this.place.get('at');
        const [query, key] = at.split(',').map(Number);
        for (const cell of this.panels.flatMap(({ maps }) => [...maps.querySelectorAll('[data-pair]')]))
            cell.classList.toggle('at', cell.getAttribute('data-pair') === at);
        if (words[query] === undefined || words[key] === undefined || this.seen.of === '')
            return this.readout.show(null);
        if (JSON.stringify([state, schemes]) !== this.seen.of) return; // Its shares are on their way, and will point again.
        const change = /** @param {Shares} each @param {typeof digits} written */ (each, written) =>
            [0, 1].map((which) => written(each(which, query, key), 'float32')).join(' → ');
        /** @type {import('../parts/readout.js').Fact[]} */
        const facts = this.seen.all.flatMap(({ shares }, i) => [
            [NAMES[schemes[i]], change(shares, digits)],
            ['bits', change(shares, hex)],
        ]);
        // The shares as moved, as formulas.
        const place = { query: order.indexOf(query), key: order.indexOf(key), width: CHANNELS };
        const [first, seen] = [place.query * order.length, causal ? place.query + 1 : order.length];
        this.seen.all.forEach(({ shares, scores: all }, i) => {
            const slope = schemes[i] === 'alibi' ? SLOPE : 0;
            const what = { ...place, slope, value: shares(1, query, key) };
            facts.push([`formula, ${NAMES[schemes[i]]}`, shareFormula(all.slice(first, first + seen), what)]);
        });
        this.readout.show([['from', words[query]], ['to', words[key]], ...facts]);
    }
}

export const show = opened(Words, {
    title: 'Words: why positions exist',
    words: [
        'Attention compares the vectors of two words, and a vector does not say where its word stands: without positions “dog bites man” and “man bites dog” give the same numbers in other rows and columns.',
        'A sinusoid added to the vectors, a rotation of them by RoPE, or a slope by distance makes the numbers follow the order.',
        'Each map shows how one word (row) shares its attention among all (columns); after a move the new map and the difference stand beside it.',
    ],
    papers: ['attention', 'sinusoidal'],
    phrases: [
        ['Let the man bite the dog', { to: '2,1,0' }],
        ['move one word alone', { to: '1,0,2' }],
        ['let each word see the earlier ones only', { sees: 'earlier words' }],
        ['put a slope by distance in place of the rotation', { third: 'alibi' }],
    ],
    asked: [
        {
            question: '“man bites dog” without positions: what share of its attention does dog give to man?',
            answer: () => answerOf(SENTENCE, 'none', 0, 2),
        },
        {
            question: 'Type “so so so”. Without positions, what share does each word get?',
            answer: () => answerOf('so so so', 'none', 0, 1),
        },
        {
            question: 'The same three words with ALiBi: what share does the first give to the second?',
            answer: () => answerOf('so so so', 'alibi', 0, 1),
        },
    ],
});
