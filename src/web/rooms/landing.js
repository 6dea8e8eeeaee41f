// landing.js - pairs of an encoding as points on circles, and where the rotation M_k takes them.
import { attribute, h, m, svg } from '../parts/dom.js';
import { brief } from '../parts/number.js';
import { seriesTable } from '../parts/table.js';

const SIZE = 132;
const RADIUS = 52;

/** @typedef {ArrayLike<number>} Numbers */
/**
 * @typedef {object} Landing
 * @property {number[]} pairs
 * @property {Numbers} from PE(pos), sines and cosines interleaved
 * @property {Numbers} to PE(pos + k)
 * @property {Numbers} product M_k PE(pos)
 * @property {Numbers} matrices of M_k: 2 x 2 for each pair
 */

/** Where a pair's cosine and sine stand. @param {Numbers} row @param {number} pair */
const spot = (row, pair) => ({ x: RADIUS * row[2 * pair + 1], y: -RADIUS * row[2 * pair] });

/** @param {Numbers} row @param {number} pair @param {string} name */
function hand(row, pair, name) {
    const { x, y } = spot(row, pair);
    return svg('line', { class: name, x2: x.toFixed(2), y2: y.toFixed(2) });
}

/** @param {Numbers} matrices @param {number} pair */
function matrix(matrices, pair) {
    const cell = /** @param {number} i */ (i) => m('mtd', m('mn', matrices[4 * pair + i].toFixed(4).replace('-', '−')));
    const table = m('mtable', m('mtr', cell(0), cell(1)), m('mtr', cell(2), cell(3)));
    return m('math', m('mrow', m('mo', '('), table, m('mo', ')')));
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
    return h('figure.circle', { 'data-pair': pair }, picture, h('figcaption', `pair ${pair}`), matrix(matrices, pair));
}

export class Circles {
    constructor() {
        /** @private @type {import('../parts/table.js').Series[]} */ this.series = [];
        /** @private */ this.list = h('div.circles');
        /** @private */ this.table = seriesTable('The three encodings, by dimension', () => this.series);
        this.element = h('div', this.list, this.table.element);
        /** @private @type {{pair: number, dot: SVGCircleElement}[]} */ this.dots = [];
    }

    /** @param {Landing} landing */
    show({ pairs, from, to, product, matrices }) {
        this.dots = pairs.map((pair) => ({ pair, dot: svg('circle.landed', { r: 5 }) }));
        const series = { 'PE(pos)': from, 'Mₖ · PE(pos)': product, 'PE(pos + k)': to };
        this.series = Object.entries(series).map(([name, y]) => ({ name, y }));
        this.table.refresh();
        this.list.replaceChildren(...this.dots.map(({ pair, dot }) => circle(from, to, pair, dot, matrices)));
        this.put(product);
    }

    /** The points of one encoding. @param {Numbers} row */
    put(row) {
        for (const { pair, dot } of this.dots) {
            const { x, y } = spot(row, pair);
            attribute(dot, { cx: x.toFixed(2), cy: y.toFixed(2) });
        }
    }
}

/** Pairs from the first to the last, closer together where they are faster. @param {number} all @param {number} most */
export function spread(all, most) {
    const n = Math.min(all, most);
    return Array.from({ length: n }, (_, i) => (n === 1 ? 0 : Math.max(i, Math.round((i / (n - 1)) ** 2 * (all - 1)))));
}

/** The product of M_k and an encoding, pair by pair: each block is of its sine and its cosine.
 * @param {Numbers} matrices @param {Numbers} row */
export const multiplied = (matrices, row) =>
    Float64Array.from(row, (_, i) => {
        const [at, sine] = [2 * i, i - (i % 2)];
        return matrices[at] * row[sine] + matrices[at + 1] * row[sine + 1];
    });

/** The largest difference of two rows. @param {Numbers} a @param {Numbers} b */
export const apart = (a, b) => Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
