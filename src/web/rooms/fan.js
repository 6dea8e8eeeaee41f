// fan.js - sines of several pairs over one stretch of positions, which a drag stretches.
import { attribute, h, painted, put, svg, unit } from '../parts/dom.js';
import { below } from '../parts/curve.js';
import { brief } from '../parts/number.js';
import { slider } from '../parts/pointers.js';
import { scale } from '../parts/scale.js';
import { seriesTable } from '../parts/table.js';

const ROW = 40;
const LEFT = 132;
const RIGHT = 14;
const FOOT = 38;
const LEAST = 0.5;
const MOST = 1e6;
const STEP = 1.08;
const [MORE, LESS] = [STEP, 1 / STEP];
const STEPS = { ArrowRight: MORE, ArrowUp: MORE, ArrowLeft: LESS, ArrowDown: LESS, PageUp: 2, PageDown: 1 / 2 };
// A wave with fewer points is drawn as the band that it fills: its points would show another, slower wave.
const POINTS_MIN = 4;

/** @typedef {{x: number[], rows: {pair: number, wavelength: number, y: import('../parts/safetensors.js').Numbers}[]}} Waves */
/** @typedef {{from: number, to: number}} Stretch */

export class Fan {
    /** @param {(to: number, done: boolean) => void} change */
    constructor(change) {
        /** @private */ this.change = change;
        /** @private @type {Waves} */ this.waves = { x: [], rows: [] };
        /** @private @type {Stretch} */ this.stretch = { from: 0, to: 1 };
        /** @private */ this.mark = NaN;
        /** Where the waves begin, in CSS pixels. @private */ this.left = LEFT;
        this.picture = svg('svg.fan');
        /** @private */ this.table = seriesTable('The fan, by position', () => {
            const { x, rows } = this.waves;
            return rows.map(({ pair, y }) => ({ name: `sine of pair ${pair}`, x, y }));
        });
        /** @private */ this.note = h('p.note', { role: 'status' });
        this.element = h('div', this.picture, this.note, this.table);
        const { draw, stop } = painted(this.picture, () => this.#paint());
        /** @private */ this.draw = draw;
        this.stop = stop;
        const { picture } = this;
        const share = /** @param {PointerEvent} event */ (event) =>
            (event.clientX - picture.getBoundingClientRect().left - this.left) /
            Math.max(1, picture.clientWidth - this.left - RIGHT);
        const length = () => this.stretch.to - this.stretch.from;
        let held = 0;
        const ends = { 'aria-label': 'Last position of the fan', 'aria-valuemin': LEAST, 'aria-valuemax': MOST };
        slider(picture, ends, STEPS, {
            key: (by) => this.#zoom(this.stretch.from + length() * by, true),
            begin: (event) => {
                held = share(event) * length();
                return held > 0;
            },
            // The position that was taken hold of stays below the pointer.
            move: (event) => {
                if (share(event) > 0.01) this.#zoom(this.stretch.from + held / share(event), false);
            },
            end: () => this.#zoom(this.stretch.to, true),
        });
    }

    /** @param {Stretch} stretch @param {number} mark the position of the cursor */
    look(stretch, mark) {
        this.stretch = stretch;
        this.mark = mark;
        const told = `positions ${brief(stretch.from)} to ${brief(stretch.to)}`;
        attribute(this.picture, { 'aria-valuenow': stretch.to, 'aria-valuetext': told });
        this.draw();
    }

    /** @param {Waves} waves */
    show(waves) {
        this.waves = waves;
        const bands = waves.rows.filter((row) => this.#dense(row)).map(({ pair }) => pair);
        const which = `${bands.length === 1 ? 'Pair' : 'Pairs'} ${bands.join(', ')}`;
        this.note.textContent =
            bands.length === 0 ? '' : `${which}: too many waves to be drawn apart; the band is all that they reach.`;
        this.draw();
        this.table.refresh();
    }

    /** @param {Waves['rows'][number]} row */
    #dense({ wavelength }) {
        const { x } = this.waves;
        return x.length > 1 && wavelength < POINTS_MIN * (x[1] - x[0]);
    }

    /** @param {number} to @param {boolean} done */
    #zoom(to, done) {
        const { from } = this.stretch;
        const length = Math.min(MOST, Math.max(LEAST, to - from));
        this.change(from + Number(length.toPrecision(3)), done);
    }

    #paint() {
        const width = this.picture.clientWidth;
        const { rows } = this.waves;
        if (width === 0 || rows.length === 0) return;
        const size = unit();
        // Wavelengths stand where the waves have as much room as they.
        const wide = width >= 2 * LEFT * size;
        const left = (wide ? LEFT : LEFT / 2) * size;
        this.left = left;
        const height = rows.length * ROW + FOOT * size;
        const { from, to } = this.stretch;
        const x = scale([from, to], [0, width - left - RIGHT]);
        this.picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
        this.picture.style.setProperty('height', `${height}px`);
        const inner = { x: left, y: 0, width: width - left - RIGHT, height: rows.length * ROW };
        const at = x(this.mark);
        const seen = this.mark >= from && this.mark <= to;
        const cursor = svg('g.cursor', [seen && svg('line', { x1: at, x2: at, y2: inner.height })]);
        put(
            this.picture,
            rows.map(({ pair, wavelength }, i) =>
                svg('text', { x: 0, y: (i + 0.5) * ROW, dy: '0.35em' }, [
                    `pair ${pair}`,
                    wide && ` · ${brief(wavelength)}`,
                ]),
            ),
            svg('svg', inner, [rows.map((row, i) => this.#wave(row, i, x)), cursor]),
            svg('g', { transform: `translate(${left} 0)` }, [
                below(x, x.ticks(Math.max(1, inner.width / (100 * size))), [0, inner.width, inner.height], 'position'),
            ]),
        );
    }

    /** @param {Waves['rows'][number]} row @param {number} i @param {import('../parts/scale.js').Scale} x */
    #wave(row, i, x) {
        const middle = (i + 0.5) * ROW;
        const high = 0.42 * ROW;
        if (this.#dense(row)) {
            const [left, right] = [this.waves.x[0], this.waves.x.at(-1) ?? 0].map((at) => x(at));
            return svg('rect.band', { x: left, y: middle - high, width: right - left, height: 2 * high });
        }
        const points = Array.from(
            row.y,
            (value, n) => `${x(this.waves.x[n]).toFixed(2)} ${(middle - value * high).toFixed(2)}`,
        );
        return svg('g', [
            svg('line.rest', { x1: 0, x2: '100%', y1: middle, y2: middle }),
            svg('path.line.series-0', { d: `M${points.join('L')}` }),
        ]);
    }
}
