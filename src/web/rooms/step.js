// step.js - a step of k positions is one rotation: M_k takes PE(pos) to PE(pos + k), wherever it starts.
import { arrays } from '../parts/api.js';
import { fields } from '../parts/controls.js';
import { attribute, h, m, put, svg } from '../parts/dom.js';
import { call, formula, sub } from '../parts/formula.js';
import { apart, brief, digits, spread } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { seriesTable } from '../parts/table.js';
import { plain } from '../parts/take.js';

const CIRCLES = 6;
const TRAVEL = 40;
const FIELDS = fields([
    ['pos', 'integer', 'Where the step starts.', '', 0, 1024],
    ['k', 'integer', 'How far it goes.', '', -128, 128],
]);

const LEAD =
    'The dot is where Mₖ takes the pair, the ring is where PE(pos + k) stands. The matrices and the encodings are the server’s.';
const STILL = 'Your system asks for less motion: the dots stand at the end of the turn.';

const SIZE = 132;
const RADIUS = 52;

/** @typedef {ArrayLike<number>} Numbers */

/** Where a pair's cosine and sine stand. @param {Numbers} row @param {number} pair */
const spot = (row, pair) => ({ x: RADIUS * row[2 * pair + 1], y: -RADIUS * row[2 * pair] });

/** @param {Numbers} row @param {number} pair @param {string} name */
function hand(row, pair, name) {
    const { x, y } = spot(row, pair);
    return svg('line', { class: name, x2: x.toFixed(2), y2: y.toFixed(2) });
}

/** Where a pair stands, in words. @param {Numbers} row @param {number} pair */
const told = (row, pair) => `(${brief(row[2 * pair + 1])}, ${brief(row[2 * pair])})`;

/** A pair with its matrix. @param {Numbers} from @param {Numbers} to @param {number} pair @param {Element} dot @param {Numbers} matrices */
function circle(from, to, pair, dot, matrices) {
    const { x, y } = spot(to, pair);
    const name = `Pair ${pair}: from ${told(from, pair)} to ${told(to, pair)}`;
    const viewBox = `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`;
    const picture = svg('svg', { role: 'img', 'aria-label': name, viewBox }, [
        svg('circle.rim', { r: RADIUS }),
        hand(from, pair, 'hand from'),
        hand(to, pair, 'hand to'),
        svg('circle.goal', { r: 9, cx: x.toFixed(2), cy: y.toFixed(2) }),
        dot,
    ]);
    const cell = /** @param {number} i */ (i) => m('mtd', m('mn', matrices[4 * pair + i].toFixed(4).replace('-', '−')));
    const table = m('mtable', m('mtr', cell(0), cell(1)), m('mtr', cell(2), cell(3)));
    const matrix = m('math', m('mrow', m('mo', '('), table, m('mo', ')')));
    return h('figure.circle', { 'data-pair': pair }, picture, h('figcaption', `pair ${pair}`), matrix);
}

/** The product of M_k and an encoding, pair by pair: each block is of its sine and its cosine.
 * @param {Numbers} matrices @param {Numbers} row */
const multiplied = (matrices, row) =>
    Float64Array.from(row, (_, i) => {
        const [at, sine] = [2 * i, i - (i % 2)];
        return matrices[at] * row[sine] + matrices[at + 1] * row[sine + 1];
    });

class Step extends Room {
    usual = { pos: '5', k: '7', d_model: '64', base: '10000' };
    controls = this.form([...FIELDS, ...this.rows('sinusoidal/offset', Object.keys(this.usual))]);
    circles = h('div.circles');
    /** @private @type {{pair: number, dot: SVGCircleElement}[]} */ dots = [];
    /** @private @type {import('../parts/table.js').Series[]} */ series = [];
    table = seriesTable('The three encodings, by dimension', () => this.series);
    verdict = h('p.landing', { role: 'status' });
    turn = this.asks(this.controls.fail);
    path = this.asks(this.fault.show);

    layout() {
        const head = formula(sub('M', 'k'), '·', call('PE', 'pos'), '=', call('PE', 'pos', '+', 'k'));
        const source = () => {
            const { pos: _, k, ...width } = this.#values();
            const shape = [Number(width.d_model) / 2, 2, 2];
            return plain('/v1/sinusoidal/offset', { ...width, offset: String(k) }, undefined, shape);
        };
        const how = { head, lead: LEAD, first: true, source };
        const turning = this.section('turn', 'Mₖ · PE(pos) = PE(pos + k)', how, [
            h('button.watch', { type: 'button', onclick: () => void this.#travel() }, 'Watch it turn'),
            this.fault,
            this.circles,
            this.table,
            this.verdict,
        ]);
        return [this.split([this.controls], turning)];
    }

    #values() {
        const [d_model, base] = ['d_model', 'base'].map((name) => this.get(name));
        const { pos, k } = this.usual;
        const [from, by] = Object.entries({ pos, k }).map(([name, usual]) => this.place.number(name, Number(usual)));
        return { d_model, base, dtype: /** @type {const} */ ('float64'), pos: Math.round(from), k: Math.round(by) };
    }

    load() {
        const { pos, k, ...width } = this.#values();
        void this.turn.ask(
            [pos, k, width],
            async (signal) => {
                const [{ data: both }, { data: matrices }] = await Promise.all([
                    arrays('/v1/sinusoidal', { ...width, positions: `${pos},${pos + k}` }, signal),
                    arrays('/v1/sinusoidal/offset', { ...width, offset: String(k) }, signal),
                ]);
                const from = both.slice(0, both.length / 2);
                return { from, to: both.slice(from.length), matrices, product: multiplied(matrices, from) };
            },
            (found) => {
                const { from, to, product, matrices } = found;
                const pairs = spread(from.length / 2, CIRCLES);
                this.dots = pairs.map((pair) => ({ pair, dot: svg('circle.landed', { r: 5 }) }));
                const circles = this.dots.map(({ pair, dot }) => circle(from, to, pair, dot, matrices));
                put(this.circles, circles);
                this.#put(product);
                const series = { 'PE(pos)': from, 'Mₖ · PE(pos)': product, 'PE(pos + k)': to };
                this.series = Object.entries(series).map(([name, y]) => ({ name, y }));
                this.table.refresh();
                this.verdict.textContent = `From position ${brief(pos)} to ${brief(pos + k)}: the largest distance between the ${from.length} channels of Mₖ · PE(pos) and of PE(pos + k) is ${digits(Number(apart(product, to).toPrecision(3)))}.`;
            },
        );
    }

    /** The points of one encoding. @param {Numbers} row */
    #put(row) {
        for (const { pair, dot } of this.dots) {
            const { x, y } = spot(row, pair);
            attribute(dot, { cx: x.toFixed(2), cy: y.toFixed(2) });
        }
    }

    /** Show every position between, as the server has it. */
    async #travel() {
        const { pos, k, ...width } = this.#values();
        if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.fault.show(new Error(STILL));
        const all = Array.from({ length: TRAVEL + 1 }, (_, i) => Number((pos + (i * k) / TRAVEL).toPrecision(12)));
        this.path.stop();
        await this.path.ask(
            [pos, k],
            (signal) => arrays('/v1/sinusoidal', { ...width, positions: all.join(',') }, signal),
            ({ data: path }) => {
                const n = path.length / all.length;
                let i = 0;
                const next = () => {
                    this.#put(path.slice(i * n, (i + 1) * n));
                    if (i++ < TRAVEL) requestAnimationFrame(next);
                };
                next();
            },
        );
    }
}

export const show = opened(Step, {
    title: 'Steps: one rotation',
    words: [
        'Two numbers of a pair are a point on a circle, and a step of k positions turns it by the same angle wherever it starts.',
        'So one matrix Mₖ takes every position to the one k further on, and a model can learn to look k tokens back.',
        'The fast pairs turn far, and the slow ones hardly at all.',
    ],
    papers: ['sinusoidal/offset'],
    phrases: [
        ['A step of one position turns the fast pairs alone', { k: '1' }],
        ['a step of 100 turns those in the middle, too', { k: '100' }],
        ['from position 1000 it is the same turn', { pos: '1000', k: '100' }],
        ['and it goes back', { pos: '1000', k: '-100' }],
    ],
    asked: [
        {
            question:
                'd_model is 64. Mₖ has a block for each pair. For k = 7, what is the first number of pair 0’s block?',
            of: ['/v1/sinusoidal/offset', { d_model: '64', offset: '7', dtype: 'float64' }],
        },
    ],
});
