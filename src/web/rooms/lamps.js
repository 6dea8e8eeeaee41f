// lamps.js - the signs of the sines around a position, as the lamps of a binary clock.
import { h, put, svg } from '../parts/dom.js';

const ROWS = 16;
const COLUMNS = 20;
const CELL = 14;
const DIGIT = 8;

/** @typedef {{first: number, positions: number[], columns: number, data: ArrayLike<number>}} Rows interleaved sines and cosines */

/** Which rows of a table stand around one. @param {number} row @param {number} rows */
export function around(row, rows) {
    const first = Math.max(0, Math.min(row - ROWS / 2, rows - ROWS));
    return { first, count: Math.min(ROWS, rows - first) };
}

export class Lamps {
    constructor() {
        this.note = h('p.note');
        this.picture = svg('svg.lamps', { role: 'img' });
        this.element = h('div.lamps-frame', this.picture, this.note);
    }

    /** @param {Rows} rows @param {number} row the one that the cursor is at */
    show({ first, positions, columns, data }, row) {
        const shown = Math.min(COLUMNS, Math.ceil(columns / 2));
        const pairs = Array.from({ length: shown }, (_, i) => shown - 1 - i);
        const lit = /** @param {number} r @param {number} pair */ (r, pair) => data[r * columns + 2 * pair] >= 0;
        const here = row - first;
        const left = 16 + DIGIT * Math.max(...positions.map((position) => String(position).length));
        const width = left + pairs.length * CELL;
        this.picture.setAttribute('viewBox', `0 0 ${width} ${positions.length * CELL + 18}`);
        put(
            this.picture,
            svg('title', [
                `Position ${positions[here]}: ${pairs.map((pair) => (lit(here, pair) ? 1 : 0)).join('')}, the slowest pair first`,
            ]),
            svg('rect.here', { x: 0, y: here * CELL, width, height: CELL }),
            positions.map((position, r) =>
                svg('g', { transform: `translate(0 ${r * CELL + CELL / 2})` }, [
                    svg('text', { x: left - 8, dy: '0.35em', 'text-anchor': 'end' }, position),
                    pairs.map((pair, i) =>
                        svg('circle', { cx: left + (i + 0.5) * CELL, r: 5, class: lit(r, pair) ? 'lamp lit' : 'lamp' }),
                    ),
                ]),
            ),
            svg('text', { x: left, y: positions.length * CELL + 14 }, `pair ${pairs[0]}`),
            svg('text', { x: width, y: positions.length * CELL + 14, 'text-anchor': 'end' }, shown > 1 && 'pair 0'),
        );
        const which = shown === 1 ? 'pair 0' : `pairs 0 to ${shown - 1}`;
        this.note.textContent = `The clock of ${which}: a lamp is lit where the sine is not negative. The fastest pair is at the right, as the lowest digit of a number is.`;
    }
}
