// rotations.js - RoPE: each pair of channels is a clock, whose hands are a query and a key.
import { posted, tensors } from '../parts/api.js';
import { control, form } from '../parts/controls.js';
import { Curve } from '../parts/curve.js';
import { h, svg } from '../parts/dom.js';
import { call, formula, row } from '../parts/formula.js';
import { paced } from '../parts/paced.js';
import { find } from '../parts/listing.js';
import { brief, digits } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { exercise, note, story } from '../parts/story.js';
import { take } from '../parts/take.js';
import { track } from './track.js';

/** @typedef {import('./rooms.js').Context} Context */
/** @typedef {import('../parts/listing.js').Parameter} Parameter */
/** @typedef {'interleaved' | 'half'} Pairing */
/** @typedef {'exact' | 'float32' | 'bfloat16' | 'float16'} Numerics */
/**
 * @typedef {object} State
 * @property {number[]} q
 * @property {number[]} k
 * @property {number} m
 * @property {number} n
 * @property {string} theta
 * @property {Pairing} pairing
 * @property {Numerics} numerics
 */

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
const DECAY_WIDTHS = [64, 128, 256];
const DECAY_OFFSETS = '0:1024';
const PAIRS_DRAWN = 32;
const RADIUS = 50;
// Positions at which arithmetics are compared: 1, 2, 3, 4, 6, 8, 12, ... to a million.
const FAR = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 2 ** (i / 2) : 3 * 2 ** ((i - 3) / 2)))
    .filter(Number.isInteger)
    .sort((a, b) => a - b);

/** @param {string} text */
const numbers = (text) =>
    text
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map((word) => Number(word.replace('−', '-')));

/** @param {number} pair @param {number} width @param {Pairing} pairing @returns {[number, number]} its two channels */
const channels = (pair, width, pairing) => (pairing === 'half' ? [pair, pair + width / 2] : [2 * pair, 2 * pair + 1]);

/** @param {State} state */
const common = ({ theta, pairing }) => ({
    rope_theta: Number(theta),
    pairing,
    dtype: /** @type {const} */ ('float64'),
});

/** @param {State} state */
const scoreBody = (state) => ({
    q: [state.q],
    k: [state.k],
    query_positions: [state.m],
    key_positions: [state.n],
    ...common(state),
});

/** @param {import('../parts/safetensors.js').Answer} answer @param {string} [name] */
const all = (answer, name) =>
    /** @type {import('../parts/safetensors.js').Tensor} */ (
        name === undefined ? answer.tensors.values().next().value : answer.tensors.get(name)
    ).all();

/** The score of one query and key. @param {number[]} q @param {number[]} k @param {number} m @param {number} n */
async function scoreOf(q, k, m, n) {
    const body = { q: [q], k: [k], query_positions: [m], key_positions: [n], dtype: /** @type {const} */ ('float64') };
    return (await all(await posted('/v1/rope/scores', body)))[0];
}

/* ---- clocks ---- */

/** @param {ArrayLike<number>} vector @param {[number, number]} at @param {number} scale */
const tip = (vector, [first, second], scale) => [vector[first] * scale, -vector[second] * scale];

/** A hand, and a thin one where it stands at position 0. @param {string} name @param {number[]} now @param {number[]} rest */
function hand(name, now, rest) {
    const length = Math.hypot(...now) || 1;
    return svg(
        'g',
        { class: `hand hand-${name}` },
        svg('line', { class: 'rest', x2: rest[0], y2: rest[1] }),
        svg('line', { x2: now[0], y2: now[1] }),
        svg('circle', { cx: now[0], cy: now[1], r: 2.5 }),
        svg(
            'text',
            {
                x: now[0] + (8 * now[0]) / length,
                y: now[1] + (8 * now[1]) / length,
                dy: '0.35em',
                'text-anchor': 'middle',
            },
            name,
        ),
    );
}

/** @param {number} share @param {number} limit */
function bar(share, limit) {
    const length = (RADIUS * Math.abs(share)) / (limit || 1);
    return svg(
        'g',
        { class: share < 0 ? 'share less' : 'share' },
        svg('rect', { x: share < 0 ? -length : 0, y: 68, width: length, height: 8 }),
        svg('line', { y1: 65, y2: 79 }),
    );
}

/**
 * @typedef {object} Seen what the server says of a state
 * @property {State} state
 * @property {ArrayLike<number>} turned q, then k
 * @property {ArrayLike<number>} shares
 * @property {number} score
 * @property {ArrayLike<number>} frequency
 * @property {ArrayLike<number>} wavelength
 */

/** The picture within a clock. @param {Seen} seen @param {number} pair @param {number} scale @param {number} limit */
function face({ state, turned, shares }, pair, scale, limit) {
    const { q, k, pairing } = state;
    const at = channels(pair, q.length, pairing);
    const key = Array.from(turned).slice(q.length);
    return svg(
        'svg',
        { viewBox: '-66 -62 132 146', 'aria-hidden': 'true' },
        svg('circle', { class: 'dial', r: RADIUS }),
        svg('path', { class: 'dial', d: `M${RADIUS} 0h-5M-${RADIUS} 0h5M0 ${RADIUS}v-5M0 -${RADIUS}v5` }),
        hand('q', tip(turned, at, scale), tip(q, at, scale)),
        hand('k', tip(key, at, scale), tip(k, at, scale)),
        bar(shares[pair], limit),
    );
}

/** A clock for each pair. @param {(pair: number) => void} choose */
function clocks(choose) {
    const element = h('div', { class: 'clocks', role: 'group', 'aria-label': 'A clock for each pair' });
    /** @param {Seen} seen @param {number} chosen */
    const show = (seen, chosen) => {
        const { q, k, pairing } = seen.state;
        const pairs = Math.min(PAIRS_DRAWN, q.length / 2);
        const sizes = Array.from({ length: pairs }, (_, i) => {
            const [a, b] = channels(i, q.length, pairing);
            return [Math.hypot(q[a], q[b]), Math.hypot(k[a], k[b])];
        });
        const scale = (RADIUS - 4) / Math.max(1e-30, ...sizes.flat());
        // No share is larger than the product of its hands, wherever they point.
        const limit = Math.max(...sizes.map(([a, b]) => a * b));
        while (element.childElementCount > pairs) element.lastElementChild?.remove();
        while (element.childElementCount < pairs) {
            const pair = element.childElementCount;
            element.append(h('button', { type: 'button', class: 'clock', onclick: () => choose(pair) }));
        }
        [...element.children].forEach((button, pair) => {
            const at = channels(pair, q.length, pairing);
            const share = digits(seen.shares[pair], 'float64');
            button.setAttribute('aria-pressed', String(pair === chosen));
            button.setAttribute('aria-label', `pair ${pair}, channels ${at.join(' and ')}, share ${share}`);
            button.replaceChildren(
                h('span', { class: 'name' }, `pair ${pair}`),
                face(seen, pair, scale, limit),
                h('span', {}, brief(seen.shares[pair], 5)),
                h('span', { class: 'unit' }, `one turn in ${brief(seen.wavelength[pair])}`),
            );
        });
    };
    return { element, show };
}

/* ---- which channels turn together ---- */

/** @param {Pairing} pairing @param {number} width @param {number} chosen */
function arcs(pairing, width, chosen) {
    const [cell, floor] = [24, 46];
    const middle = /** @param {number} channel */ (channel) => cell * channel + cell / 2;
    const reach = pairing === 'half' ? (width / 2) * cell : cell;
    return svg(
        'svg',
        {
            class: 'arcs',
            viewBox: `0 0 ${cell * width} ${floor + 26}`,
            role: 'img',
            'aria-label': `${pairing}: channels ${channels(chosen, width, pairing).join(' and ')} turn together`,
        },
        Array.from({ length: width / 2 }, (_, pair) => {
            const [a, b] = channels(pair, width, pairing).map(middle);
            const high = floor - 10 - Math.min(32, reach / 3);
            return svg('path', {
                class: pair === chosen ? 'chosen' : undefined,
                d: `M${a} ${floor}C${a} ${high} ${b} ${high} ${b} ${floor}`,
            });
        }),
        Array.from({ length: width }, (_, channel) =>
            svg('text', { x: middle(channel), y: floor + 18, 'text-anchor': 'middle' }, channel),
        ),
    );
}

/** @type {[Pairing, string][]} */
const PAIRINGS = [
    ['interleaved', 'interleaved: 2i and 2i + 1 (the paper, GPT-J)'],
    ['half', 'half: i and i + d/2 (GPT-NeoX, Hugging Face)'],
];

/* ---- exact against rounded ---- */

/**
 * Angles of another arithmetic than the exact one, as parameters of a table. Of 16 bits the service has the rounding of
 * frequencies: their quotient with the exact ones is given to it as divisors.
 * @param {Numerics} numerics @param {Record<string, string>} values @param {AbortSignal} signal
 */
async function rounded(numerics, values, signal) {
    if (numerics === 'float32') return { numerics: /** @type {const} */ ('float32') };
    const path = '/v1/rope/frequencies';
    const [exact, coarse] = await Promise.all(
        ['float64', numerics].map(async (dtype) =>
            all(await tensors(path, { ...values, dtype: /** @type {'float64'} */ (dtype) }, { signal }), 'inv_freq'),
        ),
    );
    return { freq_factors: Array.from(exact, (frequency, i) => frequency / coarse[i]).join(',') };
}

/** How far the angles of an arithmetic are from the exact ones, in radians up to half a turn, for each pair.
 * @param {State} state @param {AbortSignal} signal */
async function errors({ q, theta, numerics }, signal) {
    const values = { head_dim: String(q.length), rope_theta: theta };
    const how = await rounded(numerics, values, signal);
    const table = { ...values, positions: FAR.join(','), dtype: /** @type {const} */ ('float64') };
    const answers = await Promise.all(
        [table, { ...table, ...how }].map((each) => tensors('/v1/rope/table', each, { signal })),
    );
    const [cos, sin, cosine, sine] = await Promise.all(answers.flatMap((each) => [all(each, 'cos'), all(each, 'sin')]));
    const pairs = q.length / 2;
    return Array.from({ length: Math.min(8, pairs) }, (_, pair) => ({
        name: `pair ${pair}`,
        x: FAR,
        y: FAR.map((_, i) => {
            const at = i * pairs + pair;
            const error = Math.abs(
                Math.atan2(sine[at] * cos[at] - cosine[at] * sin[at], cosine[at] * cos[at] + sine[at] * sin[at]),
            );
            return error === 0 ? NaN : error;
        }),
    }));
}

/* ---- words ---- */

/** @param {import('../parts/listing.js').Listing} listing */
const lead = (listing) =>
    story(
        'Rotations: RoPE',
        [
            'Each pair of channels is a clock: the hand q turns by its frequency times the position m, the hand k by the ' +
                'same frequency times n.',
            'The bar below a clock is its share of the score, and it depends on the angle between the hands alone: move m ' +
                'or n and the score changes, move both and it stands still to the last digit.',
            'The first clocks turn fast and tell neighbours apart; the last ones turn slowly and see far.',
        ],
        [find(listing, 'rope/scores')],
    );

const exercises = () =>
    h(
        'div',
        { class: 'story' },
        h('h2', {}, 'Check yourself'),
        exercise({
            question: 'Set q = 0.3,−1.2 and k = 1,0.5, m = 5 and n = 3. What is the score?',
            answer: () => scoreOf([0.3, -1.2], [1, 0.5], 5, 3),
        }),
        exercise({
            question: 'And with m = 3 and n = 5?',
            answer: () => scoreOf([0.3, -1.2], [1, 0.5], 3, 5),
        }),
        exercise({
            question: 'After how many tokens has the slowest clock of head_dim 128, base 10000, made one turn?',
            unit: 'tokens',
            answer: async () => {
                const answer = await tensors('/v1/rope/frequencies', { head_dim: '128', dtype: 'float64' });
                return Number((await all(answer, 'wavelength')).at(-1));
            },
        }),
    );

/** @param {Readout} readout @param {Seen} seen @param {number} pair */
function explain(readout, { state, shares, frequency, wavelength }, pair) {
    const { q, k, m, n, pairing } = state;
    const [a, b] = channels(pair, q.length, pairing);
    const turn = ['(', m, '−', n, ')', '·', digits(frequency[pair], 'float64')];
    const signed = /** @param {number} x */ (x) => (x < 0 ? row('(', digits(x, 'float64'), ')') : digits(x, 'float64'));
    const times = /** @param {number} x @param {number} y */ (x, y) => row(signed(x), '·', signed(y));
    readout.show([
        ['pair', pair],
        ['channels', `${a} and ${b}`],
        ['frequency', digits(frequency[pair], 'float64')],
        ['wavelength', `${digits(wavelength[pair], 'float64')} tokens`],
        ['share', digits(shares[pair], 'float64')],
        [
            'formula',
            // A formula does not break; its terms do.
            h(
                'span',
                {},
                formula(row('(', times(q[a], k[a]), '+', times(q[b], k[b]), ')')),
                ' ',
                formula(call('cos', ...turn)),
                ' ',
                formula('+', row('(', times(q[a], k[b]), '−', times(q[b], k[a]), ')')),
                ' ',
                formula(call('sin', ...turn)),
                ' ',
                formula('=', digits(shares[pair], 'float64')),
            ),
        ],
    ]);
}

/** The rows of the controls. @param {import('../parts/listing.js').Listing} listing @returns {Parameter[]} */
function rows(listing) {
    const of = Object.fromEntries((find(listing, 'rope/scores')?.parameters ?? []).map((each) => [each.name, each]));
    const channel = { type: /** @type {const} */ ('numbers'), required: false };
    return [
        { ...channel, name: 'q', default: USUAL.q, description: 'A query: two numbers for each pair.' },
        { ...channel, name: 'k', default: USUAL.k, description: 'A key, of as many numbers.' },
        { ...of.rope_theta },
        { ...of.pairing, description: '' },
    ];
}

/** @param {HTMLElement} host @param {Context} context @returns {import('./rooms.js').Shown} */
export function show(host, context) {
    const { place, listing } = context;
    const get = /** @param {string} name */ (name) => place.get(name, USUAL[name]);
    /** @returns {State} */
    const state = () => ({
        q: numbers(get('q')),
        k: numbers(get('k')),
        m: Number(get('m')),
        n: Number(get('n')),
        theta: get('rope_theta'),
        pairing: get('pairing') === 'half' ? 'half' : 'interleaved',
        numerics: /** @type {Numerics} */ (get('numerics')),
    });
    /** @param {Record<string, string | number>} changes @param {boolean} done */
    const set = (changes, done) => {
        const kept = Object.entries(changes).map(([name, value]) => [
            name,
            String(value) === USUAL[name] ? null : value,
        ]);
        place.set(Object.fromEntries(kept), { step: done });
        update();
    };
    const fields = form(rows(listing), (name, value, done) => set({ [name]: value ?? USUAL[name] }, done));
    const rounding = control(
        {
            name: 'arithmetic of the angles',
            type: 'string',
            required: false,
            choices: ['exact', 'float32', 'bfloat16', 'float16'],
            description: '',
        },
        (value, done) => set({ numerics: value }, done),
    );
    const handles = track((m, n, done) => set({ m, n }, done));
    const score = h('output', { class: 'score', 'aria-live': 'off' });
    const sum = h('p', { class: 'note' });
    const dials = clocks((pair) => set({ pair }, true));
    const readout = new Readout();
    const distance = new Curve({ name: 'score by distance', xName: 'm − n', yName: 'score', height: 200 });
    const decay = new Curve({
        name: 'mean of the cosines by distance',
        xName: 'm − n',
        yName: 'mean cosine',
        height: 200,
    });
    const wrong = new Curve({
        name: 'error of the angles by position',
        xName: 'position',
        yName: 'error in radians',
        xLog: true,
        yLog: true,
        height: 240,
    });
    const pairings = h('div', { class: 'pairings' });
    const missing = h('p', { class: 'help' });
    const along = take(
        () => ({ path: '/v1/rope/scores', values: {}, body: { ...scoreBody(state()), per_pair: true }, many: false }),
        listing.formats.map(({ name }) => name),
    );
    /** @type {Seen | null} */ let seen = null;
    const now = paced((error) => fields.fail(error));
    const curves = paced(() => undefined);
    const slow = paced(context.fail);
    const rough = paced(context.fail);

    const chosen = () => Math.min(Number(get('pair')), (seen?.state.q.length ?? 2) / 2 - 1);

    /** @param {AbortSignal} signal */
    async function ask(signal) {
        const wanted = state();
        const { q, k, m, n, theta } = wanted;
        const body = scoreBody(wanted);
        const parts = await posted('/v1/rope/scores', { ...body, per_pair: true }, { signal });
        const [whole, turned, waves] = await Promise.all([
            posted('/v1/rope/scores', body, { signal }),
            posted('/v1/rope/rotate', { vectors: [q, k], positions: [m, n], ...common(wanted) }, { signal }),
            tensors(
                '/v1/rope/frequencies',
                { head_dim: String(q.length), rope_theta: theta, dtype: 'float64' },
                { signal },
            ),
        ]);
        const [shares, [total], rotated, frequency, wavelength] = await Promise.all([
            all(parts),
            all(whole),
            all(turned),
            all(waves, 'inv_freq'),
            all(waves, 'wavelength'),
        ]);
        seen = { state: wanted, turned: rotated, shares, score: total, frequency, wavelength };
        fields.fail(null);
        draw();
    }

    function draw() {
        if (seen === null) return;
        const { q, m, n } = seen.state;
        score.textContent = digits(seen.score, 'float64');
        sum.textContent = `score of q at ${brief(m)} and k at ${brief(n)}, m − n = ${brief(m - n)}`;
        dials.show(seen, chosen());
        explain(readout, seen, chosen());
        distance.mark(Math.abs(m - n) > REACH ? null : m - n + REACH);
        pairings.replaceChildren(
            ...PAIRINGS.map(([pairing, words]) =>
                h(
                    'figure',
                    { class: pairing === seen?.state.pairing ? undefined : 'other' },
                    h('figcaption', {}, words),
                    arcs(pairing, Math.min(2 * PAIRS_DRAWN, q.length), chosen()),
                ),
            ),
        );
        along.refresh();
    }

    let [curved, slowed, roughed] = ['', '', ''];

    /** The curves that do not follow m and n are asked for when what they show has changed. */
    function others() {
        const wanted = state();
        const { q, k, theta, pairing, numerics } = wanted;
        const [curve, slope, error] = [[q, k, theta, pairing], [theta], [q.length, theta, numerics]].map(String);
        if (curve !== curved) curves.ask((signal) => byDistance(wanted, signal));
        if (slope !== slowed) slow.ask((signal) => byWidth(theta, signal));
        if (error !== roughed) rough.ask((signal) => byPosition(wanted, signal));
        [curved, slowed, roughed] = [curve, slope, error];
    }

    /** @param {State} wanted @param {AbortSignal} signal */
    async function byDistance(wanted, signal) {
        const count = 2 * REACH + 1;
        const body = { ...scoreBody(wanted), q: Array.from({ length: count }, () => wanted.q) };
        const ranged = { ...body, query_positions: `0:${count}`, key_positions: [REACH] };
        const y = await all(await posted('/v1/rope/scores', ranged, { signal }));
        distance.show([{ name: 'score', x: Array.from(y, (_, i) => i - REACH), y }]);
    }

    /** @param {string} theta @param {AbortSignal} signal */
    async function byWidth(theta, signal) {
        const series = DECAY_WIDTHS.map(async (width) => {
            const values = { head_dim: String(width), rope_theta: theta, offsets: DECAY_OFFSETS };
            return { name: `head_dim ${width}`, y: await all(await tensors('/v1/rope/decay', values, { signal })) };
        });
        decay.show(await Promise.all(series));
    }

    /** @param {State} wanted @param {AbortSignal} signal */
    async function byPosition(wanted, signal) {
        const { numerics } = wanted;
        wrong.element.hidden = numerics === 'exact';
        missing.textContent =
            numerics === 'exact'
                ? 'Choose another arithmetic to see how far its angles are from these.'
                : numerics === 'float32'
                  ? 'Every step as PyTorch rounds it to float32: frequency, angle, cosine and sine. The error of a pair grows with the position.'
                  : `The frequencies are rounded to ${numerics}, as in a model that was cast with its buffers; positions and products stay exact. ` +
                    `The service has no angles computed in ${numerics} throughout. Errors are shown up to half a turn.`;
        if (numerics !== 'exact') wrong.show(await errors(wanted, signal));
    }

    function update() {
        const { m, n } = state();
        fields.show(Object.fromEntries(Object.keys(USUAL).map((name) => [name, get(name)])));
        rounding.show(get('numerics'));
        handles.show(m, n);
        now.ask(ask);
        others();
    }

    host.replaceChildren(
        lead(listing),
        h(
            'div',
            { class: 'split' },
            h('section', { class: 'panel', 'aria-label': 'Parameters' }, fields.element),
            h(
                'section',
                { class: 'stage', 'aria-label': 'Clocks' },
                h('div', { class: 'total' }, score, sum),
                handles.element,
                dials.element,
                readout.element,
                h('div', { class: 'panels' }, along.element),
            ),
        ),
        h(
            'div',
            { class: 'cards story' },
            h(
                'section',
                {},
                h('h2', {}, 'The score by distance'),
                distance.element,
                h('p', { class: 'note' }, 'The mark moves with m or n, and not with both.'),
            ),
            h(
                'section',
                {},
                h('h2', {}, 'The mean of all cosines'),
                decay.element,
                h(
                    'p',
                    { class: 'note' },
                    'This is the score of equal channels. It falls in waves, not steadily, and the score of other vectors need not fall at all.',
                ),
            ),
            h('section', {}, h('h2', {}, 'Which channels turn together'), pairings),
            h('section', {}, h('h2', {}, 'Exact against rounded'), rounding.element, missing, wrong.element),
        ),
        exercises(),
        h(
            'div',
            { class: 'story' },
            note(
                'The share of a pair is (q₁k₁ + q₂k₂) cos((m − n)θ) + (q₁k₂ − q₂k₁) sin((m − n)θ). Some pages have the ' +
                    'other sign before the sine: that is the score with m and n exchanged. The first exercise tells the two ' +
                    'apart: 1.3524 with this sign, −1.1027 with the other.',
            ),
        ),
    );
    update();
    return {
        update,
        stop: () => [now, curves, slow, rough, distance, decay, wrong].forEach((each) => each.stop()),
    };
}
