// curve.js - series of numbers as curves, with axes.
import { attribute, fresh, h, painted, put, svg, unit } from './dom.js';
import { clamp, tick } from './number.js';
import { ALONG, keys } from './pointers.js';
import { rounded, scale } from './scale.js';
import { seriesTable } from './table.js';

/** @import { Series } from './table.js' */

/**
 * @typedef {object} Options
 * @property {string} name what is seen
 * @property {string} [xName]
 * @property {string} [yName]
 * @property {boolean} [xLog]
 * @property {boolean} [yLog]
 * @property {number} [height]
 * @property {boolean} [tabled] its numbers are in another table
 * @property {boolean} [points] dots instead of lines
 * @property {[number, number]} [yRange] else that of the numbers
 * @property {(index: number, done: boolean) => void} [onCursor]
 * @property {(curve: Curve) => import('./dom.js').Child[]} [under] what is drawn below the curves, at each painting
 */

const MARGIN = { top: 10, right: 12, bottom: 40, left: 56 };
const HEIGHT = 260;
const BESIDE = { dy: '0.32em', 'text-anchor': 'end' };
// The names of several series stand at their ends, where the picture has room for them.
const ENDS = { from: 520, letter: 7, gap: 18, line: 15 };
// A line with more points than this is drawn as the least and the greatest of each pixel.
const POINTS_PER_PIXEL = 2;

/** The least and greatest finite number of all series.
 * @param {ArrayLike<number>[]} lists @param {boolean} log @returns {[number, number]} */
function range(lists, log) {
    let [low, high] = [Infinity, -Infinity];
    for (const list of lists)
        for (let i = 0; i < list.length; i++) {
            const value = list[i];
            if (!Number.isFinite(value) || (log && value <= 0)) continue;
            if (value < low) low = value;
            if (value > high) high = value;
        }
    if (low > high) return log ? [1, 10] : [0, 1];
    if (low === high) return log ? [low / 2, high * 2] : [low - 1, high + 1];
    return [low, high];
}

/** Ticks that have room; on a log scale the powers of ten first. @param {import('./scale.js').Scale} axis @param {number} most @param {boolean | undefined} log */
function ticks(axis, most, log) {
    const all = axis.ticks(most);
    if (!log || all.length <= most + 2) return all;
    const powers = all.filter((value) => Math.abs(Math.log10(value) % 1) < 1e-9);
    const skip = Math.ceil(powers.length / most);
    return powers.filter((_, i) => i % skip === 0);
}

/** The axis below a picture. @param {import('./scale.js').Scale} x @param {number[]} values @param {number[]} place from, to
 * and where below @param {string} name */
export const below = (x, values, [from, to, floor], name) =>
    svg('g.axes', { 'aria-hidden': 'true' }, [
        values.map((value) =>
            svg('g', { transform: `translate(${x(value)} ${floor})` }, [
                svg('line', { y2: 5 }),
                svg('text', { y: 5, dy: '1em', 'text-anchor': 'middle' }, tick(value)),
            ]),
        ),
        svg('line', { x1: from, x2: to, y1: floor, y2: floor }),
        svg('text', { x: to, y: floor, dy: '2.75em', 'text-anchor': 'end' }, name && `${name} →`),
    ]);

export class Curve {
    /** @param {Options} options */
    constructor(options) {
        this.options = options;
        /** @type {Series[]} */ this.series = [];
        /** @type {number | null} */ this.cursor = null;
        this.x = scale([0, 1], [0, 1]);
        this.y = this.x;
        const id = fresh('curve');
        this.title = svg('title', { id }, options.name);
        this.picture = svg('svg.curve', {
            role: 'img',
            'aria-labelledby': id,
            tabindex: options.onCursor ? 0 : undefined,
        });
        this.key = h('ul.key');
        /** @private */ this.table = seriesTable(options.name, () => this.series);
        this.element = h('div.curves', this.picture, this.key, !options.tabled && this.table);
        this.picture.style.setProperty('height', `${(options.height ?? HEIGHT) / 16}rem`);
        const { draw, stop } = painted(this.picture, () => this.#paint());
        this.draw = draw;
        this.stop = stop;
        const { onCursor } = options;
        if (!onCursor) return;
        const to = /** @param {number} index @param {boolean} done */ (index, done) => {
            const longest = Math.max(0, ...this.series.map(({ y }) => y.length));
            const at = clamp(index, 0, longest - 1);
            this.mark(at);
            onCursor(at, done);
        };
        const at = /** @param {MouseEvent} event */ (event) => {
            const place = this.x.invert(event.clientX - this.picture.getBoundingClientRect().left);
            const x = this.series[0]?.x;
            if (x === undefined) return Math.round(place);
            const far = Array.from(x, (value) => Math.abs(value - place));
            return far.indexOf(Math.min(...far));
        };
        this.picture.addEventListener('pointermove', (event) => to(at(event), false));
        this.picture.addEventListener('click', (event) => to(at(event), true));
        keys(this.picture, ALONG, (by, { shiftKey }) => to((this.cursor ?? 0) + by * (shiftKey ? 10 : 1), true));
    }

    /** @param {Series[]} series */
    show(series) {
        this.series = series;
        const names = series.length < 2 ? [] : series;
        const key = names.map(({ name }, i) => h('li', { class: `series-${i % 8}` }, name));
        put(this.key, key);
        this.draw();
        this.table.refresh();
    }

    /** Mark an index. @param {number | null} index */
    mark(index) {
        this.cursor = index;
        this.draw();
    }

    #paint() {
        const width = this.picture.clientWidth;
        const height = this.picture.clientHeight;
        if (width === 0) return;
        const size = unit();
        const { xLog, yLog, yRange, xName = '', yName = '' } = this.options;
        const named = this.series.length > 1 && width >= ENDS.from * size;
        const longest = Math.max(0, ...this.series.map(({ name }) => name.length));
        const right = width - (MARGIN.right + (named ? ENDS.gap + ENDS.letter * longest : 0)) * size;
        // The names of both axes stand in one line where it is long enough.
        const apart = (xName.length + yName.length + 6) * ENDS.letter * size > width ? ENDS.line : 0;
        const [left, floor] = [MARGIN.left * size, height - (MARGIN.bottom + apart) * size];
        const xs = this.series.map(({ x, y }) => x ?? [0, Math.max(1, y.length - 1)]);
        const [logX, logY] = [xLog === true, yLog === true];
        const ys = this.series.map(({ y }) => y);
        this.x = scale(range(xs, logX), [left, right], logX);
        this.y = scale(yRange ?? rounded(range(ys, logY), logY), [floor, MARGIN.top], logY);
        attribute(this.picture, { viewBox: `0 0 ${width} ${height}` });
        const rows = ticks(this.y, Math.max(2, height / (45 * size)), yLog);
        const columns = ticks(this.x, Math.max(2, width / (90 * size)), xLog);
        const shown = [
            this.title,
            ...(this.options.under ? [svg('g.under', this.options.under(this))] : []),
            svg('g.axes', { 'aria-hidden': 'true' }, [
                rows.map((value) => [
                    svg('line.grid', { x1: left, x2: right, y1: this.y(value), y2: this.y(value) }),
                    svg('text', { x: left - 7 * size, y: this.y(value), ...BESIDE }, tick(value)),
                ]),
                svg('text', { x: 0, y: height - 4 }, yName && `↑ ${yName}`),
            ]),
            below(this.x, columns, [left, right, floor], xName),
            ...this.series.map((one, i) => this.#line(one, i)),
            named && this.#ends(right, floor, size),
            this.#marks(floor),
        ];
        put(this.picture, shown);
    }

    /** The name of each series beside its last point, those of near points apart.
     * @param {number} x @param {number} floor @param {number} size of letters */
    #ends(x, floor, size) {
        const last = this.series.map(({ y }, i) => ({ i, at: this.y(y[y.length - 1]) }));
        const seen = last.filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
        let free = MARGIN.top;
        const places = seen.map(({ i, at }, n) => {
            const most = floor - (seen.length - 1 - n) * ENDS.line * size;
            const y = Math.min(most, Math.max(at, free));
            free = y + ENDS.line * size;
            return { i, at, y };
        });
        return svg('g.ends', { 'aria-hidden': 'true' }, [
            places.map(({ i, at, y }) =>
                svg('g', { class: `series-${i % 8}` }, [
                    svg('line', { x1: x + 2, y1: at, x2: x + ENDS.gap - 4, y2: y }),
                    svg('text', { x: x + ENDS.gap, y, dy: '0.32em' }, this.series[i].name),
                ]),
            ),
        ]);
    }

    /** @param {Series} one @param {number} index */
    #line(one, index) {
        const n = one.y.length;
        const dense = n > POINTS_PER_PIXEL * this.picture.clientWidth;
        const points = Array.from(one.y, (value, i) => ({ x: this.x(one.x ? one.x[i] : i), y: this.y(value) }));
        const seen = points.filter(({ y }) => Number.isFinite(y));
        if (this.options.points && !dense)
            return svg('g', { class: `dots series-${index % 8}` }, [
                seen.map(({ x, y }) => svg('circle', { r: 2.5, cx: x, cy: y })),
            ]);
        let d = '';
        if (dense) {
            // A line from the least to the greatest value of each pixel.
            const pixels = Map.groupBy(seen, ({ x }) => Math.round(x));
            const ends = [...pixels].map(([at, list]) => {
                const ys = list.map(({ y }) => y);
                return `${at} ${Math.min(...ys).toFixed(1)}L${at} ${Math.max(...ys).toFixed(1)}`;
            });
            d = `M${ends.join('L')}`;
        } else
            points.forEach(({ x, y }, i) => {
                if (!Number.isFinite(y)) return;
                d += `${Number.isFinite(points[i - 1]?.y) ? 'L' : 'M'}${x.toFixed(2)} ${y.toFixed(2)}`;
            });
        return svg('path', { class: `line series-${index % 8}`, d });
    }

    /** @param {number} floor */
    #marks(floor) {
        const i = this.cursor;
        if (i === null || this.series.length === 0) return svg('g');
        const x = this.x(this.series[0].x ? this.series[0].x[i] : i);
        return svg('g.cursor', [
            svg('line', { x1: x, x2: x, y1: MARGIN.top, y2: floor }),
            this.series.map(
                (one, k) =>
                    Number.isFinite(this.y(one.y[i])) &&
                    svg('circle', { class: `series-${k % 8}`, r: 4, cx: x, cy: this.y(one.y[i]) }),
            ),
        ]);
    }
}
