// which.js - one sentence under five schemes: what is added where, what the shares of attention depend on, and what
// becomes of it past the training length.
import { arrays, posted } from '../parts/api.js';
import { fields } from '../parts/controls.js';
import { h, put } from '../parts/dom.js';
import { apart, brief } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { map, split, vector } from './maps.js';

/** @typedef {{words: string[], first: number, length: number}} Asked the sentence, where it begins, the training length */
/**
 * @typedef {object} Scheme
 * @property {string} name
 * @property {string} room where there is more of it
 * @property {string} added what is added, and where
 * @property {(asked: Asked) => Record<string, unknown>} body what of POST /v1/attention is its own
 * @property {(asked: Asked, signal: AbortSignal) => Promise<string>} far past the training length
 */

const SEED = '1';
const SLOPE = 0.5;
const BUCKETS = 32;
const DISTANCE = 128;
const HEAD = '128';
// A text so many times as long as those of the training.
const TIMES = 8;
/** @type {[number, number]} */
const BEFORE = [1, 2000];
/** @type {[number, number]} */
const TRAINED = [64, 131072];

const FIELDS = fields([
    ['sentence', 'text', 'Up to 6 words.'],
    ['before', 'integer', 'So many words come before it.', 'words', ...BEFORE],
    ['trained', 'integer', 'The longest text of the training.', 'tokens', ...TRAINED],
]);

/** Vectors that a word, or a row of a table that is learned, always has. @param {string[]} names @param {string} role */
const vectors = (names, role) => names.map((name) => vector(name, role, SEED));

/** Words, to each of which the row of a learned table is added. @param {Asked} asked @param {string} role */
const placed = ({ words, first }, role) =>
    vectors(words, role).map((own, i) => vector(`row ${first + i}`, 'table', SEED).map((each, c) => each + own[c]));

/** Numbers that agree to the digits of float32. */
const SAME = 1e-6;

/** @type {Scheme[]} */
const SCHEMES = [
    {
        name: 'Learned',
        room: 'sums',
        added: 'To the vector of each word, before the first layer: the row of its position in a table that training makes.',
        body: (asked) => ({ q: placed(asked, 'query'), k: placed(asked, 'key'), scheme: 'none' }),
        far: async ({ length }) =>
            `The table has the rows 0 to ${brief(length - 1)}. Position ${brief(length)} has none: the model cannot be asked.`,
    },
    {
        name: 'Sinusoidal',
        room: 'waves',
        added: 'To the vector of each word, before the first layer: sines and cosines of its position.',
        body: () => ({ scheme: 'sinusoidal' }),
        far: async ({ length }, signal) => {
            const positions = `${length * TIMES}`;
            const values = { d_model: HEAD, positions, dtype: /** @type {const} */ ('float64') };
            const { data } = await arrays('/v1/sinusoidal', values, signal);
            const { wavelength } = await arrays('/v1/rope/frequencies', { head_dim: HEAD }, signal);
            const slow = wavelength.filter((each) => each > length).length;
            return `Every position has numbers: the largest at ${brief(length * TIMES)} is ${brief(Math.max(...data), 3)}. But ${slow} of ${wavelength.length} pairs have waves longer than the training, whose rest is new.`;
        },
    },
    {
        name: 'Shaw, T5',
        room: 'biases',
        added: 'To each score, in every layer: a number that training finds for the bucket of the distance. Shaw adds a vector for it to the key.',
        body: () => ({
            scheme: 't5',
            weights: Array.from({ length: BUCKETS }, (_, i) => [vector(`bucket ${i}`, 'bias', SEED)[0]]),
            num_buckets: BUCKETS,
            max_distance: DISTANCE,
        }),
        far: async (_, signal) => {
            const values = { query_length: '1', key_length: `${2 * DISTANCE}`, num_buckets: `${BUCKETS}` };
            const { data: row } = await arrays('/v1/t5/buckets', values, signal);
            const last = row[0];
            const from = Array.from(row).reverse().indexOf(last);
            return `All distances from ${from} on share bucket ${last}: nothing is new, and what is farther is not told apart.`;
        },
    },
    {
        name: 'RoPE',
        room: 'rotations',
        added: 'Nothing is added: in every layer the queries and keys are turned, each pair of channels by its frequency times the position.',
        body: () => ({ scheme: 'rope' }),
        far: async ({ length }, signal) => {
            const lengths = { max_position_embeddings: `${length}`, target_length: `${length * TIMES}` };
            const values = { head_dim: HEAD, ...lengths, rope_types: /** @type {const} */ ('default') };
            const { unseen_pairs: unseen, turns } = await arrays('/v1/rope/compare', values, signal);
            return `In a text ${TIMES} times as long ${brief(unseen[0])} of ${turns.length} pairs turn by angles that training never saw. Scaling slows them (Long contexts).`;
        },
    },
    {
        name: 'ALiBi',
        room: 'biases',
        added: 'To each score, in every layer: minus a slope times the distance. Each head has its slope, and nothing is learned.',
        body: () => ({ scheme: 'alibi', slope: SLOPE }),
        far: async ({ length }, signal) => {
            const values = { num_heads: '8', heads: '7', query_length: '1', key_length: `${length * TIMES}` };
            const { data: row } = await arrays('/v1/alibi/bias', values, signal);
            const [near, far] = [row[row.length - length], row[0]].map((each) => brief(each, 5));
            return `The line goes on: the flattest of 8 heads takes ${near.slice(1)} off at distance ${brief(length - 1)} and ${far.slice(1)} at ${brief(length * TIMES - 1)}.`;
        },
    },
];

/** The shares of attention of a sentence that begins at a position. @param {Scheme} scheme @param {Asked} asked @param {AbortSignal} signal */
async function shares(scheme, asked, signal) {
    const { words, first } = asked;
    const positions = `${first}:${first + words.length}`;
    const own = scheme.body(asked);
    const places = own.scheme === 'none' ? {} : { query_positions: positions, key_positions: positions };
    const body = { q: vectors(words, 'query'), k: vectors(words, 'key'), ...own, ...places };
    return posted('/v1/attention', /** @type {any} */ (body), signal);
}

/** A column of what is found of a scheme. @param {Scheme} scheme @param {Asked} asked @param {AbortSignal} signal */
async function column(scheme, asked, signal) {
    const { words, first } = asked;
    const [here, moved, far] = await Promise.all([
        shares(scheme, { ...asked, first: 0 }, signal),
        shares(scheme, asked, signal),
        scheme.far(asked, signal),
    ]);
    const most = apart(here, moved);
    const further = `${first} words further on, `;
    const changed = `Both positions: ${further}shares change by up to ${brief(most, 2)}.`;
    const depends = most < SAME ? `The distance alone: ${further}no share changes.` : changed;
    const change = here.map((share, i) => (Math.abs(moved[i] - share) < SAME ? 0 : moved[i] - share));
    const table = /** @param {string} name @param {ArrayLike<number>} list */ (name, list) =>
        map(name, words, [...words.keys()], (query, key) => list[query * words.length + key], list === change);
    const part = /** @param {string} title @param {...import('../parts/dom.js').Child} rest */ (title, ...rest) =>
        h('div.fact', h('h3', title), rest);
    return h('section.scheme', { 'aria-label': scheme.name }, [
        h('h2', h('a', { href: `#/${scheme.room}` }, scheme.name)),
        part('What is added where', h('p', scheme.added)),
        part('What the score depends on', [
            table('shares of attention', here),
            table(`change ${first} words further on`, change),
            h('p.depends', depends),
        ]),
        part('Past the training length', h('p.far-words', far)),
    ]);
}

class Which extends Room {
    usual = { sentence: 'dog bites man', before: '5', trained: '4096' };
    fields = this.form(FIELDS);
    out = h('div.columns', { 'aria-busy': true, role: 'status' });
    ask = this.asks(this.fields.fail, { patient: true, busy: this.out });

    notes = [
        'The words’ vectors, the rows of the learned table and the weights of the buckets are hashed, as none of them is a model’s. The shares are those of POST /v1/attention.',
    ];

    layout() {
        return [h('div.panel', { role: 'group', 'aria-label': 'Parameters' }, this.fields), this.phrases(), this.out];
    }

    load() {
        const [first, length] = [this.whole('before', ...BEFORE), this.whole('trained', ...TRAINED)];
        const asked = { words: split(this.get('sentence'), 6), first, length };
        void this.ask.ask(
            asked,
            (signal) => Promise.all(SCHEMES.map((scheme) => column(scheme, asked, signal))),
            (found) => put(this.out, found),
        );
    }
}

export const show = opened(Which, {
    title: 'Which is which: five schemes, one sentence',
    words: [
        'The same words under each scheme, first at the beginning of a text and then further on: what moves with them, and what does not, is computed here by the service.',
    ],
    papers: ['attention', 'shaw/indices', 't5/buckets'],
    phrases: [
        ['Begin 500 words further on', { before: '500' }],
        ['train on 512 tokens', { trained: '512' }],
        ['train on 131072, and every wave is seen whole', { trained: '131072' }],
    ],
});
