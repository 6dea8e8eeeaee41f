// words.js - a sentence in two orders: what attention sees of it without positions, and with them.
import { posted } from '../parts/api.js';
import { h } from '../parts/dom.js';
import { brief, digits, hex } from '../parts/number.js';
import { legend, scaleOf } from '../parts/palette.js';
import { ALONG, ARROWS, drag, keys, pointed } from '../parts/pointers.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { grid } from '../parts/table.js';
import { posting, take } from '../parts/take.js';
import { CHANNELS, map, split as wordsOf, vector } from './maps.js';
import { scores, shareFormula } from './softmax.js';

/** @typedef {'none' | 'sinusoidal' | 'rope' | 'alibi'} Scheme */
/** @typedef {(order: number, query: number, key: number) => number} Shares order 0: as typed, 1: as moved; by typed words */

const SENTENCE = 'dog bites man';
const SEED = '1';
const WORDS_MAX = 10;
const LETTERS_MAX = 20;
const SLOPE = 0.5;
const MOVE_MS = 160;

const WORDS = [
    'Attention compares the vectors of two words, and a vector does not say where its word stands: ' +
        'without positions “dog bites man” and “man bites dog” give the same numbers in other rows and columns.',
    'A sinusoid added to the vectors, a rotation of them by RoPE, or a slope by distance makes the numbers ' +
        'follow the order.',
    'Each map shows how one word (row) shares its attention among all (columns); the third puts the moved ' +
        'words back and takes the difference.',
];

/** @type {Record<Scheme, string>} */
const NAMES = { none: 'No position', sinusoidal: 'Sinusoid added', rope: 'RoPE', alibi: `ALiBi, slope ${SLOPE}` };

/** @param {string} text */
const split = (text) => wordsOf(text, WORDS_MAX).map((word) => word.slice(0, LETTERS_MAX));

/** The order that the address names; without one, the words are reversed. @param {string} text @param {number} n */
function orderOf(text, n) {
    const order = text.split(',').map(Number);
    const whole = order.length === n && Array.from({ length: n }, (_, i) => i).every((i) => order.includes(i));
    return whole ? order : Array.from({ length: n }, (_, i) => n - 1 - i);
}

/** The order with equal words in their typed order: those who read see no difference between them.
 * @param {string[]} words @param {number[]} order */
function read(words, order) {
    const left = [...words.keys()];
    const next = /** @param {number} i */ (i) => left.findIndex((each) => words[each] === words[i]);
    return order.map((i) => left.splice(next(i), 1)[0]);
}

/** Both orders in one request. @param {string[]} words @param {number[]} order @param {string} seed @param {Scheme} scheme @param {boolean} causal */
function bodyOf(words, order, seed, scheme, causal) {
    const both = /** @param {'query' | 'key'} role */ (role) => {
        const typed = words.map((word) => vector(word, role, seed));
        return [typed, order.map((i) => typed[i])];
    };
    const slope = scheme === 'alibi' ? { slope: SLOPE } : {};
    return { q: both('query'), k: both('key'), scheme, ...slope, ...(causal ? { causal } : {}) };
}

/** The moved sentence of a body alone. @param {ReturnType<typeof bodyOf>} body */
const moved = ({ q, k, scheme }) => ({ q: q[1], k: k[1], scheme });

/** @param {ReturnType<typeof bodyOf>} body @param {number[]} order @param {AbortSignal} [signal] @returns {Promise<Shares>} */
async function attention(body, order, signal) {
    const data = await posted('/v1/attention', body, signal);
    const n = order.length;
    const place = order.map((_, i) => order.indexOf(i));
    return (which, query, key) => (which === 0 ? data[query * n + key] : data[(n + place[query]) * n + place[key]]);
}

/** The shares of attention, and the scores of the moved sentence that explain them.
 * @param {ReturnType<typeof bodyOf>} body @param {number[]} order @param {AbortSignal} signal */
async function look(body, order, signal) {
    const all = await Promise.all([attention(body, order, signal), scores(moved(body), signal)]);
    return { shares: all[0], scores: all[1] };
}

/** @param {string} text @param {Scheme} scheme @param {number} query @param {number} key */
async function answerOf(text, scheme, query, key) {
    const words = split(text);
    const order = orderOf('', words.length);
    const body = { ...bodyOf(words, order, SEED, scheme, false), dtype: 'float64' };
    return (await attention(body, order))(1, query, key);
}

/** How many numbers are others in the new order, in words. @param {Shares} shares @param {number[]} order @param {Scheme} scheme */
function verdict(shares, order, scheme) {
    const all = order.flatMap((query) => order.map((key) => Math.abs(shares(1, query, key) - shares(0, query, key))));
    const changed = all.filter((by) => by > 0);
    if (changed.length > 0)
        return `${changed.length} of ${all.length} numbers have changed, the largest by ${brief(Math.max(...changed), 3)}.`;
    const why = scheme === 'alibi' ? ' ALiBi knows distances alone, and this order keeps them.' : '';
    const still = order.every((i, at) => i === at);
    const moved = still ? 'The sentence reads as before.' : `Only rows and columns have moved.${why}`;
    return `All ${all.length} numbers are the same, bit for bit. ${moved}`;
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
        this.element = h('div', this.list, this.said);
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
            const [x, y] = [before[i].left - now.left, before[i].top - now.top];
            if (before[i].width > 0 && (x !== 0 || y !== 0))
                item.animate([{ transform: `translate(${x}px, ${y}px)` }, {}], { duration: MOVE_MS });
        });
    }

    /** @param {number} word @param {number} to @param {boolean} done */
    #move(word, to, done) {
        const rest = this.order.filter((i) => i !== word);
        const target = Math.min(rest.length, Math.max(0, to));
        if (target === this.order.indexOf(word)) return;
        this.order = [...rest.slice(0, target), word, ...rest.slice(target)];
        this.#arrange(this.items[word]);
        this.said.textContent = `${this.items[word].textContent} is now word ${target + 1} of ${this.order.length}.`;
        this.change(this.order, done);
    }

    /** The place of the tile that is nearest to the pointer. @param {PointerEvent} event */
    #nearest(event) {
        const far = this.order.map((i) => {
            const { left, width, top, height } = this.items[i].getBoundingClientRect();
            return Math.hypot(event.clientX - left - width / 2, 4 * (event.clientY - top - height / 2));
        });
        return far.indexOf(Math.min(...far));
    }

    /** @param {string} word @param {number} i */
    #tile(word, i) {
        const button = h('button.word', { type: 'button', 'aria-describedby': 'words-help' }, word);
        keys(button, ALONG, (by) => this.#move(i, this.order.indexOf(i) + by, true));
        drag(button, {
            move: (event) => this.#move(i, this.#nearest(event), false),
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

/** One scheme: its three maps, and what they come to. @param {() => ReturnType<typeof bodyOf>} body */
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
        /** @param {Scheme} scheme @param {string[]} words @param {number[]} order @param {Shares} shares */
        show: (scheme, words, order, shares) => {
            const typed = words.map((_, i) => i);
            head.textContent = NAMES[scheme];
            maps.setAttribute('aria-label', `${NAMES[scheme]}: maps of words. Arrow keys choose a pair.`);
            said.textContent = verdict(shares, order, scheme);
            maps.replaceChildren(
                map('as typed', words, typed, (query, key) => shares(0, query, key), false),
                map('as moved', words, order, (query, key) => shares(1, query, key), false),
                map('moved − typed', words, typed, (query, key) => shares(1, query, key) - shares(0, query, key), true),
                said,
            );
        },
    };
}

/** The vectors that the page made, as a table. @param {string[]} words @param {string} seed */
function vectors(words, seed) {
    const rows = words.flatMap((word) =>
        ['query', 'key'].map((role) =>
            h('tr', [
                h('th', { scope: 'row' }, `${word}, ${role}`),
                vector(word, role, seed).map((number) => h('td', digits(number, 'float64'))),
            ]),
        ),
    );
    return grid({}, `Numbers of a hash of each word and seed ${seed}; no model made them`, [], rows);
}

/** @type {import('../parts/story.js').Exercise[]} */
const ASKED = [
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
        answer: () => answerOf('so so so', 'alibi', 2, 1),
    },
];

class Words extends Room {
    usual = { s: SENTENCE, third: 'rope', sees: 'all words', seed: SEED };
    fields = [
        this.control(['sentence', 'text', `Up to ${WORDS_MAX} words.`], 's', { at: null, to: null }),
        this.control(['third panel', ['rope', 'alibi']], 'third', { at: null }),
        this.control(['each word sees', ['all words', 'earlier words']], 'sees', { at: null }),
    ];
    tiles = new Tiles((order, done) => {
        const usual = orderOf('', order.length).join() === order.join();
        this.set({ to: usual ? null : order.join(',') }, done);
    });
    panels = [0, 1, 2].map((i) => panel(() => this.#body(this.#state().schemes[i])));
    readout = new Readout();
    made = h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Word vectors' });
    /** What is shown of each scheme, and of which state. @private */
    seen = { of: '', all: /** @type {Awaited<ReturnType<typeof look>>[]} */ ([]) };
    /** @private */ questions = this.asks(undefined, { patient: true });
    asked = ASKED;
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
        for (const { maps } of this.panels) {
            pointed(maps, 'data-pair', (pair) => this.#choose(pair));
            keys(maps, ARROWS, (by) => this.#arrow(by));
        }
        const help = 'Drag a word to another place, or choose it and press ← or →.';
        return [
            this.story('Words: why positions exist', WORDS, 'attention', 'sinusoidal'),
            h('div.bench', [
                h(
                    'div.panel.fields',
                    this.fields.map(({ element }) => element),
                ),
                h('div', this.tiles.element, h('p.help.panel', { id: 'words-help' }, help)),
            ]),
            h(
                'div.trio',
                this.panels.map(({ element }) => element),
            ),
            h('div.heat-foot', legend(scaleOf(-1, 1)).element, h('span.note', 'share of attention, and its change')),
            this.readout.element,
            this.#origin(),
        ];
    }

    /** Where the vectors come from. */
    #origin() {
        return h('div.story.made', [
            h('p.note', [
                `The words' vectors are hashed: ${CHANNELS} numbers for its query and ${CHANNELS} for its key, from the ` +
                    'letters and a seed. They stand for no meaning, and the same word has the same vector. All else is computed by ',
                h('code', 'POST /v1/attention'),
                ', and the scores in the formulas by ',
                h('code', 'POST /v1/rope/scores'),
                '.',
            ]),
            h('div.panel.fields', [
                this.control(['seed', 'integer', 'Another seed, other word vectors.'], 'seed', { at: null }).element,
            ]),
            h('details.source', h('summary', 'The word vectors'), this.made),
        ]);
    }

    #state() {
        const words = split(this.get('s'));
        return {
            words,
            order: read(words, orderOf(this.place.get('to'), words.length)),
            seed: this.get('seed'),
            causal: this.get('sees') === 'earlier words',
            schemes: /** @type {Scheme[]} */ (['none', 'sinusoidal', this.get('third')]),
        };
    }

    /** @param {Scheme} scheme */
    #body(scheme) {
        const { words, order, seed, causal } = this.#state();
        return bodyOf(words, order, seed, scheme, causal);
    }

    load() {
        const state = this.#state();
        const { words, order, schemes } = state;
        this.tiles.show(words, orderOf(this.place.get('to'), words.length));
        this.made.replaceChildren(vectors(words, state.seed));
        void this.questions.ask(
            state,
            (signal) => Promise.all(schemes.map((scheme) => look(this.#body(scheme), order, signal))),
            (all) => {
                this.seen = { of: JSON.stringify(state), all };
                this.panels.forEach((each, i) => each.show(schemes[i], words, order, all[i].shares));
                this.#point();
            },
        );
    }

    /** Show the pair of words that the address names, in every map. */
    #point() {
        const { words, schemes } = this.#state();
        const at = this.place.get('at');
        const [query, key] = at.split(',').map(Number);
        for (const cell of this.panels.flatMap(({ maps }) => [...maps.querySelectorAll('[data-pair]')]))
            cell.classList.toggle('at', cell.getAttribute('data-pair') === at);
        if (words[query] === undefined || words[key] === undefined || this.seen.of === '')
            return this.readout.show(null);
        if (JSON.stringify(this.#state()) !== this.seen.of) return; // Its shares are on their way, and will point again.
        const change = /** @param {Shares} each @param {typeof digits} written */ (each, written) =>
            [0, 1].map((which) => written(each(which, query, key), 'float32')).join(' → ');
        /** @type {import('../parts/readout.js').Fact[]} */
        const facts = this.seen.all.flatMap(({ shares }, i) => [
            [NAMES[schemes[i]], change(shares, digits)],
            ['bits', change(shares, hex)],
        ]);
        this.readout.show([['from', words[query]], ['to', words[key]], ...facts, ...this.#formulas(query, key)]);
    }

    /** The shares as moved, as formulas.
     * @param {number} query @param {number} key @returns {import('../parts/readout.js').Fact[]} */
    #formulas(query, key) {
        const { order, schemes, causal } = this.#state();
        const at = { query: order.indexOf(query), key: order.indexOf(key), width: CHANNELS };
        const [first, seen] = [at.query * order.length, causal ? at.query + 1 : order.length];
        return schemes.map((scheme, i) => {
            const { shares, scores: all } = this.seen.all[i];
            const what = { ...at, slope: scheme === 'alibi' ? SLOPE : 0, value: shares(1, query, key) };
            return [`formula, ${NAMES[scheme]}`, shareFormula(all.slice(first, first + seen), what)];
        });
    }

    /** @param {string} pair */
    #choose(pair) {
        if (pair === this.place.get('at')) return;
        this.place.set({ at: pair });
        this.#point();
    }

    /** @param {number[]} by columns and rows */
    #arrow([along, down]) {
        const last = this.#state().words.length - 1;
        const at = this.place.get('at');
        const [query, key] = at === '' ? [-down, -along] : at.split(',').map(Number);
        this.#choose([query + down, key + along].map((n) => Math.min(last, Math.max(0, n))).join(','));
    }
}

export const show = opened(Words);
