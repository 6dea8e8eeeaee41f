// rotations.js - RoPE: each pair of channels is a clock, whose hands are a query and a key.
import { Problem, arrays, posted } from '../parts/api.js';
import { control, fields } from '../parts/controls.js';
import { attribute, h, put, svg } from '../parts/dom.js';
import { call, formula, row } from '../parts/formula.js';
import { Latest } from '../parts/latest.js';
import { brief, digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { seriesTable } from '../parts/table.js';
import { plain, posting } from '../parts/take.js';
import { Drift } from './drift.js';

/** @typedef {'interleaved' | 'half'} Pairing */
/** @typedef {ReturnType<typeof stateOf>} State */
/** @typedef {Awaited<ReturnType<typeof look>>} Seen what the server says of a state */

/** @type {Record<string, string>} */
const USUAL = {
    q: '0.3,-1.2,1,0.4,-0.5,0.9,1.1,-0.3',
    k: '1,0.5,0.8,-0.6,0.7,0.9,-0.4,1',
    m: '5',
    n: '3',
    rope_theta: '10000',
    pairing: 'interleaved',
    numerics: 'exact',
    pair: '0',
};
const REACH = 64;
const FAR = 1e6;
const DECAY_WIDTHS = [64, 128, 256];
const DECAY_OFFSETS = '0:1024';
const PAIRS_DRAWN = 32;
const RADIUS = 50;
const DTYPE = /** @type {const} */ ('float64');

/** @param {string} text */
const numbers = (text) => (text.match(/[^\s,;]+/g) ?? []).map((word) => Number(word.replace('−', '-')));

/** A position; the usual one where the text is none. @param {string} text @param {string} usual */
const whole = (text, usual) => Number(/^\d{1,15}$/.test(text) ? text : usual);

/** @param {number} pair @param {number} width @param {Pairing} pairing @returns {[number, number]} its two channels */
const channels = (pair, width, pairing) => (pairing === 'half' ? [pair, pair + width / 2] : [2 * pair, 2 * pair + 1]);

/** @param {Pick<State, 'theta' | 'pairing'>} how */
const common = ({ theta, pairing }) => ({ rope_theta: Number(theta), pairing, dtype: DTYPE });

/** @param {State} state */
const scoreBody = ({ q, k, m, n, ...how }) => ({
    ...{ q: [q], k: [k], query_positions: [m], key_positions: [n] },
    ...common(how),
});

/** The score of the exercises. @param {number} m @param {number} n */
async function scoreOf(m, n) {
    const body = { q: [[0.3, -1.2]], k: [[1, 0.5]], query_positions: [m], key_positions: [n], dtype: DTYPE };
    return (await posted('/v1/rope/scores', body))[0];
}

/** The same at every distance. @param {State} state */
const farther = (state) => ({
    ...scoreBody(state),
    q: Array.from({ length: 2 * REACH + 1 }, () => state.q),
    query_positions: `0:${2 * REACH + 1}`,
    key_positions: [REACH],
});

/** A hand, and a thin one where it stands at position 0. @param {string} name @param {number[]} now @param {number[]} rest */
function hand(name, now, rest) {
    const [x, y] = now.map((each) => each * (1 + 8 / (Math.hypot(...now) || 1)));
    return svg('g', { class: `hand hand-${name} series-${name === 'q' ? 0 : 2}` }, [
        svg('line.rest', { x2: rest[0], y2: rest[1] }),
        svg('line', { x2: now[0], y2: now[1] }),
        svg('circle', { cx: now[0], cy: now[1], r: 2.5 }),
        svg('text', { x, y, dy: '0.35em', 'text-anchor': 'middle' }, name),
    ]);
}

/** The picture within a clock: its hands, and below it its share of the score.
 * @param {Seen} seen @param {number} pair @param {number} scale @param {number} limit */
function face({ state, turned, shares }, pair, scale, limit) {
    const { q, k, pairing } = state;
    const [first, second] = channels(pair, q.length, pairing);
    const tip = /** @param {ArrayLike<number>} vector */ (vector) => [vector[first] * scale, -vector[second] * scale];
    const share = shares[pair];
    const length = (RADIUS * Math.abs(share)) / (limit || 1);
    const colour = share < 0 ? 'series-2' : 'series-3';
    return svg('svg', { viewBox: '-66 -62 132 146', 'aria-hidden': 'true' }, [
        svg('circle.dial', { r: RADIUS }),
        svg('path.dial', { d: `M${RADIUS} 0h-5M-${RADIUS} 0h5M0 ${RADIUS}v-5M0 -${RADIUS}v5` }),
        hand('q', tip(turned), tip(q)),
        hand('k', tip(turned.slice(q.length)), tip(k)),
        svg('g.share', [
            svg('rect', { class: colour, x: share < 0 ? -length : 0, y: 68, width: length, height: 8 }),
            svg('line', { y1: 65, y2: 79 }),
        ]),
    ]);
}

/** A clock for each pair. @param {(pair: number) => void} choose */
function clocks(choose) {
    const list = h('div.clocks', { role: 'group', 'aria-label': 'A clock for each pair' });
    const unit = h('p.note');
    /** @type {import('../parts/table.js').Series[]} */
    let series = [];
    const table = seriesTable('The clocks, by pair', () => series);
    /** @param {Seen} seen @param {number} chosen */
    const show = (seen, chosen) => {
        const { shares, frequency, wavelength } = seen;
        series = Object.entries({ share: shares, frequency, wavelength }).map(([name, y]) => ({ name, y }));
        table.refresh();
        const { q, k, pairing } = seen.state;
        const all = q.length / 2;
        const pairs = Math.min(PAIRS_DRAWN, all);
        const sizes = Array.from({ length: pairs }, (_, i) => {
            const [a, b] = channels(i, q.length, pairing);
            return [Math.hypot(q[a], q[b]), Math.hypot(k[a], k[b])];
        });
        const scale = (RADIUS - 4) / Math.max(1e-30, ...sizes.flat());
        // No share is larger than the product of its hands, wherever they point.
        const limit = Math.max(...sizes.map(([a, b]) => a * b));
        const some = pairs < all ? ` The first ${pairs} of ${all} pairs have clocks.` : '';
        unit.textContent = `Below each clock: its share of the score. A bar as long as the radius is ${brief(limit, 3)}.${some}`;
        while (list.childElementCount > pairs) list.lastElementChild?.remove();
        for (let pair = list.childElementCount; pair < pairs; pair++)
            list.append(h('button.clock', { type: 'button', onclick: () => choose(pair) }));
        [...list.children].forEach((button, pair) => {
            const at = channels(pair, q.length, pairing).join(' and ');
            const title = `channels ${at}, share ${digits(shares[pair])}`;
            attribute(button, { 'aria-pressed': pair === chosen, title });
            button.replaceChildren(
                h('span.name', `pair ${pair}`),
                face(seen, pair, scale, limit),
                h('span', brief(shares[pair], 5)),
                h('span.unit', `one turn in ${brief(wavelength[pair])}`),
            );
        });
    };
    return { element: h('div', unit, list, table), show };
}

/** Which channels turn together. @param {Pairing} pairing @param {number} width @param {number} chosen */
function arcs(pairing, width, chosen) {
    const [cell, floor] = [Math.min(24, (48 * PAIRS_DRAWN) / width), 46];
    // Numbers have room up to twice the pairs that are drawn as clocks.
    const every = Math.ceil(24 / cell);
    const middle = /** @param {number} channel */ (channel) => cell * channel + cell / 2;
    const reach = pairing === 'half' ? (width / 2) * cell : cell;
    const rise = 10 + Math.min(32, reach / 3);
    // A curve reaches three quarters of the way to the points that bend it.
    const top = floor - 0.75 * rise - 4;
    const name = `${pairing}: channels ${channels(chosen, width, pairing).join(' and ')} turn together`;
    const viewBox = `0 ${top} ${cell * width} ${floor + 26 - top}`;
    return svg('svg.arcs', { viewBox, role: 'img', 'aria-label': name }, [
        Array.from({ length: width / 2 }, (_, pair) => {
            const [a, b] = channels(pair, width, pairing).map(middle);
            const d = `M${a} ${floor}C${a} ${floor - rise} ${b} ${floor - rise} ${b} ${floor}`;
            return svg('path', { class: pair === chosen ? 'chosen' : undefined, d });
        }),
        Array.from({ length: Math.ceil(width / every) }, (_, i) => every * i).map((channel) =>
            svg('text', { x: middle(channel), y: floor + 18, 'text-anchor': 'middle' }, channel),
        ),
    ]);
}

/** @type {[Pairing, string][]} */
const PAIRINGS = [
    ['interleaved', 'interleaved: 2i and 2i + 1 (the paper, GPT-J)'],
    ['half', 'half: i and i + d/2 (GPT-NeoX, Hugging Face)'],
];

const EQUAL =
    'This is the score of equal channels. It falls in waves, not steadily, and the score of other vectors need not fall at all.';
const ROUNDED = 'float32 shows how far the arithmetic of PyTorch turns the angles.';
const BY_DISTANCE = { xName: 'm − n in tokens', height: 200 };
const CHANNELS = fields([
    ['q', 'numbers', 'A query: two numbers for each pair.'],
    ['k', 'numbers', 'A key, of as many numbers.'],
]);

/** Facts about a pair. @param {Seen} seen @param {number} pair */
function factsOf({ state, shares, frequency, wavelength }, pair) {
    const { q, k, m, n, pairing } = state;
    const [a, b] = channels(pair, q.length, pairing);
    const turn = ['(', m, '−', n, ')', '·', digits(frequency[pair])];
    const signed = /** @param {number} x */ (x) => (x < 0 ? row('(', digits(x), ')') : digits(x));
    const times = /** @param {number} x @param {number} y */ (x, y) => row(signed(x), '·', signed(y));
    const terms = [
        [row('(', times(q[a], k[a]), '+', times(q[b], k[b]), ')')],
        [call('cos', ...turn)],
        ['+', row('(', times(q[a], k[b]), '−', times(q[b], k[a]), ')')],
        [call('sin', ...turn)],
        ['=', digits(shares[pair])],
    ];
    return {
        ...{ pair, channels: `${a} and ${b}`, frequency: digits(frequency[pair]) },
        ...{ wavelength: `${digits(wavelength[pair])} tokens`, share: digits(shares[pair]), bits: hex(shares[pair]) },
        // A formula does not break; its terms do.
        formula: h('span', [terms.map((each) => [formula(...each), ' '])]),
    };
}

/** What the address says of the room. @param {(name: string) => string} get */
const stateOf = (get) => ({
    q: numbers(get('q')),
    k: numbers(get('k')),
    m: whole(get('m'), USUAL.m),
    n: whole(get('n'), USUAL.n),
    theta: get('rope_theta'),
    pairing: /** @type {Pairing} */ (get('pairing') === 'half' ? 'half' : 'interleaved'),
});

/** What the server says of a state. `turned`: q, then k. @param {State} state @param {AbortSignal} signal */
async function look(state, signal) {
    const { q, k, m, n, theta } = state;
    const body = scoreBody(state);
    const waves = { head_dim: String(q.length), rope_theta: theta, dtype: DTYPE };
    const shares = await posted('/v1/rope/scores', { ...body, per_pair: true }, signal);
    const [[score], turned, { inv_freq: frequency, wavelength }] = await Promise.all([
        posted('/v1/rope/scores', body, signal),
        posted('/v1/rope/rotate', { vectors: [q, k], positions: [m, n], ...common(state) }, signal),
        arrays('/v1/rope/frequencies', waves, signal),
    ]);
    return { state, turned, shares, score, frequency, wavelength };
}

class Rotations extends Room {
    usual = USUAL;
    fields = this.form([...CHANNELS, ...this.rows('rope/scores', ['rope_theta', 'pairing'])]);
    numerics = this.control(['numerics', ['exact', 'float32'], ROUNDED]);
    positions = ['m', 'n'].map((name) => this.control([name, 'integer', '', 'tokens', 0, FAR]));
    /** Moves both, the nearer one to a position. */
    both = control(fields([['both', 'integer', '', 'tokens', 0, FAR]])[0], (to, done) => {
        const { m, n } = stateOf(this.get);
        const by = Number(to) - Math.min(m, n);
        if (Number.isSafeInteger(by)) this.set({ m: m + by, n: n + by }, done);
    });
    score = h('output.score', { 'aria-live': 'off' });
    sum = h('p.note');
    dials = clocks((pair) => this.set({ pair }));
    readout = new Readout();
    distance = this.plot({ name: 'score by distance', yName: 'score', ...BY_DISTANCE });
    decay = this.plot({ name: 'mean of the cosines by distance', yName: 'mean cosine', ...BY_DISTANCE });
    pairings = h('div.pairings');
    drift = this.own(new Drift(this));
    /** The curves are asked for when what they show has changed, and the clocks do not wait for them. A fault of q or k
     * is told at their fields. @private */
    questions = {
        clocks: this.asks(this.fields.fail, { patient: true }),
        distance: this.own(new Latest(() => undefined)),
        decay: this.own(new Latest(this.fail)),
    };

    notes = [
        'The share of a pair is (q₁k₁ + q₂k₂) cos((m − n)θ) + (q₁k₂ − q₂k₁) sin((m − n)θ). Some pages have the other sign before the sine: that is the score with m and n exchanged. The first exercise tells the two apart: 1.3524 with this sign, −1.1027 with the other.',
    ];

    layout() {
        const share = () => ({ ...scoreBody(stateOf(this.get)), per_pair: true });
        const sources = {
            clocks: () => posting('/v1/rope/scores', share(), [1, 1, share().q[0].length / 2], 'scores'),
            distances: () => posting('/v1/rope/scores', farther(stateOf(this.get)), [2 * REACH + 1, 1], 'scores'),
            decay: () => plain('/v1/rope/decay', this.#decays(DECAY_WIDTHS[1])),
        };
        return [
            this.split(
                [this.fields, this.numerics],
                this.section('clocks', 'Clocks', { first: true, source: sources.clocks }, [
                    h('div.total', this.score, this.sum),
                    h('div.row', this.positions, this.both),
                    this.dials,
                    this.readout,
                ]),
            ),
            h('div.cards', [
                this.section('distance', 'The score by distance', { source: sources.distances }, [
                    this.distance,
                    h('p.note', 'The mark moves with m or n, and not with both.'),
                ]),
                this.section('decay', 'The mean of all cosines', { source: sources.decay }, [
                    this.decay,
                    h('p.note', EQUAL),
                ]),
                this.section('channels', 'Which channels turn together', {}, this.pairings),
            ]),
            this.drift.part(''),
        ];
    }

    /** @param {number} width */
    #decays(width) {
        return { head_dim: String(width), rope_theta: this.get('rope_theta'), offsets: DECAY_OFFSETS };
    }

    load() {
        const wanted = stateOf(this.get);
        const { q, k, m, n, theta, pairing } = wanted;
        this.both.show(String(Math.min(m, n)));
        // What of q and k is no number is told as the server would.
        const errors = ['q', 'k']
            .filter((name) => numbers(this.get(name)).some(Number.isNaN))
            .map((name) => ({ parameter: name, detail: `must be numbers, got "${this.get(name)}"` }));
        if (errors.length > 0)
            return this.fields.fail(new Problem({ status: 422, code: '', title: 'No numbers', errors }));
        void this.questions.clocks.ask(
            [wanted, this.get('pair')],
            (signal) => look(wanted, signal),
            (seen) => {
                const pair = Math.min(Number(this.get('pair')), q.length / 2 - 1);
                this.score.textContent = digits(seen.score);
                this.sum.textContent = `score of q at ${brief(m)} and k at ${brief(n)}, m − n = ${brief(m - n)}`;
                this.dials.show(seen, pair);
                this.readout.show(factsOf(seen, pair));
                this.distance.mark(Math.abs(m - n) > REACH ? null : m - n + REACH);
                const figures = PAIRINGS.map(([each, words]) => {
                    const head = h('figcaption', words);
                    return h('figure', { class: each !== pairing && 'other' }, head, arcs(each, q.length, pair));
                });
                put(this.pairings, figures);
            },
        );
        void this.questions.distance.ask(
            [q, k, theta, pairing],
            (signal) => posted('/v1/rope/scores', farther(wanted), signal),
            (y) => this.distance.show([{ name: 'score', x: Array.from(y, (_, i) => i - REACH), y }]),
        );
        const decay = /** @param {number} width @param {AbortSignal} signal */ async (width, signal) => ({
            name: `head_dim ${width}`,
            y: (await arrays('/v1/rope/decay', this.#decays(width), signal)).data,
        });
        void this.questions.decay.ask(
            theta,
            (signal) => Promise.all(DECAY_WIDTHS.map((width) => decay(width, signal))),
            (series) => this.decay.show(series),
        );
        const values = { head_dim: String(q.length), rope_theta: theta };
        this.drift.open(this.get('numerics') !== 'exact' && { path: '/v1/rope/table', values, waves: values });
    }
}

export const show = opened(Rotations, {
    title: 'Rotations: RoPE',
    words: [
        'Each pair of channels is a clock: the hand q turns by its frequency times the position m, the hand k by the same frequency times n.',
        'The bar below a clock is its share of the score, and it depends on the angle between the hands alone: move m or n and the score changes, move both and it stands still to the last digit.',
        'The first clocks turn fast and tell neighbours apart; the last ones turn slowly and see far.',
    ],
    papers: ['rope/scores'],
    phrases: [
        ['Move both by 1000, and the score stands still', { m: '1005', n: '1003' }],
        ['move m alone by one, and it changes', { m: '6', n: '3' }],
        ['the last clock hardly turns in 60 tokens', { m: '63', n: '3', pair: '3' }],
        ['a base of 100 makes it turn', { m: '63', n: '3', pair: '3', rope_theta: '100' }],
    ],
    asked: [
        {
            question: 'Set q = 0.3,−1.2 and k = 1,0.5, m = 5 and n = 3. What is the score?',
            answer: () => scoreOf(5, 3),
        },
        { question: 'And with m = 3 and n = 5?', answer: () => scoreOf(3, 5) },
        {
            question: 'After how many tokens has the slowest clock of head_dim 128, base 10000, made one turn?',
            unit: 'tokens',
            of: ['/v1/rope/frequencies', { head_dim: '128', dtype: 'float64' }, 'wavelength'],
            at: -1,
        },
    ],
});
