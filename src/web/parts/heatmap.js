// heatmap.js - a matrix as colours: panned and zoomed from all of it to one cell.
//
// Where a pixel covers several cells it shows the least and the greatest of them as a fine chequer, never one of them
// alone, and the caption says how many it covers. More than is read is the service's own figure, pooled there.
import { Chunks, bounds } from './chunks.js';
import { h, painted, unit } from './dom.js';
import { clamp, digits } from './number.js';
import { legend, painter, scaleOf, word } from './palette.js';
import { ARROWS, pointers } from './pointers.js';
import { Overview } from './pooled.js';
import { Tip } from './readout.js';
import { scale } from './scale.js';
import { bounded, large, parse, showing, text, whole, zoomed } from './view.js';

/** @typedef {{row: number, column: number}} Cell */
/**
 * @typedef {object} Options
 * @property {import('./safetensors.js').Matrix} matrix
 * @property {string} name what is seen, for those who do not see it
 * @property {string} [rowName] "position"
 * @property {string} [columnName] "dimension"
 * @property {(row: number) => string} [rowLabel]
 * @property {(column: number) => string} [columnLabel]
 * @property {(none: number) => {key: string, paint: (value: number) => number}} [paint] colours of its own; no legend then
 * @property {() => [number, number]} [bounds] least and greatest value; without it those in view and at both ends
 * @property {() => void} [onRead] rows have arrived
 * @property {string} [unit] what the values are, beside the legend
 * @property {HTMLCanvasElement} [before] the picture that is seen until the first rows have come
 * @property {boolean} [bare] no axes, no legend: a small one of several
 * @property {number} [height] in CSS pixels
 * @property {(cell: Cell, value: number | undefined, done: boolean) => void} [onCursor]
 * @property {(window: import('./view.js').Window) => void} [onView]
 * @property {(error: unknown) => void} [onError]
 */

// In units of 1/16 of the root's font size, so that labels and margins grow with the text around.
const MARGIN = { top: 8, right: 4, bottom: 36, left: 56 };
const BARE = { top: 1, right: 1, bottom: 1, left: 1 };
const TICK_EVERY = 70;
const KEY_ZOOM = 0.7;

/** A colour of the theme: "rgb(22, 25, 28)". @param {HTMLElement} element @param {string} name */
function ink(element, name) {
    element.style.setProperty('color', `var(${name})`);
    return getComputedStyle(element).color;
}

/** The same as a word. @param {HTMLElement} element @param {string} name */
const inkWord = (element, name) => word(ink(element, name).match(/\d+/g)?.map(Number) ?? []);

/** How many cells, as a power of two, one drawn cell has to cover so that it has two pixels. @param {number} cells @param {number} pixels */
const level = (cells, pixels) => (cells <= pixels ? 0 : Math.ceil(Math.log2((2 * cells) / pixels)));

export class Heatmap {
    /** @param {Options} options */
    constructor(options) {
        this.options = options;
        this.matrix = options.matrix;
        this.window = whole(options.matrix);
        /** @type {Cell | null} */ this.cursor = null;
        this.margin = options.bare ? BARE : MARGIN;
        this.canvas = h('canvas.heatmap', {
            tabindex: 0,
            role: 'application',
            'aria-roledescription': 'heatmap',
            'aria-label': `${options.name}. Arrow keys move the cursor, plus and minus zoom, 0 shows all.`,
        });
        /** @private */ this.painted = painted(this.canvas, () => this.#paint());
        this.draw = this.painted.draw;
        const failed = options.onError ?? (() => undefined);
        const arrived = () => {
            this.draw();
            options.onRead?.();
        };
        this.chunks = new Chunks(options.matrix, arrived, failed);
        /** @private */ this.overview = options.matrix.pool && new Overview(options.matrix.pool, this.draw, failed);
        if (!options.bounds && options.matrix.rows > this.chunks.high) {
            // Maps of indices and of distances have their least and their greatest in the first and the last row.
            const ends = [0, options.matrix.rows - 1].map((row) => options.matrix.read(row, 1));
            const beside = /** @param {import('./safetensors.js').Numbers[]} rows */ (rows) => {
                this.chunks.beside = rows.map(bounds);
                this.draw();
            };
            Promise.all(ends).then(beside).catch(failed);
        }
        this.legend = legend(scaleOf(0, 0), options.unit);
        this.legend.element.hidden = options.paint !== undefined;
        this.note = h('p.note');
        /** @private */ this.tip = new Tip();
        const button = /** @param {string} sign @param {string} name @param {() => void} act */ (sign, name, act) =>
            h('button', { type: 'button', 'aria-label': name, title: name, onclick: act }, sign);
        const buttons = [
            button('+', 'Zoom in', () => this.zoom(KEY_ZOOM ** 2)),
            button('−', 'Zoom out', () => this.zoom(KEY_ZOOM ** -2)),
            button('All', 'Show all', () => this.look(whole(this.matrix))),
        ];
        const zoom = h('div.zoom', { role: 'group', 'aria-label': 'Zoom' }, buttons);
        this.element = h('div', { class: options.bare ? 'heat bare' : 'heat' }, [
            this.canvas,
            this.tip,
            !options.bare && h('div.heat-foot', this.legend, this.note, zoom),
        ]);
        /** @private */ this.texels = new OffscreenCanvas(1, 1);
        /** @private */ this.theme = matchMedia('(prefers-color-scheme: dark)');
        this.theme.addEventListener('change', this.draw);
        if (options.height) this.canvas.style.setProperty('height', `${options.height}px`);
        this.canvas.addEventListener('keydown', (event) => this.#key(event));
        this.#listen();
        this.draw();
    }

    #listen() {
        pointers(this.canvas, {
            point: (x, y, done) => this.move(this.#cell(x, y), done),
            pan: (dx, dy) => {
                const { wide, high } = this.#spot(0, 0);
                this.look({ ...this.window, row: this.window.row - dy / high, column: this.window.column - dx / wide });
            },
            zoom: (factor, x, y) => this.zoom(factor, x, y),
            hover: (x, y) => {
                const cell = this.#cell(x, y);
                const {
                    rowLabel = String,
                    columnLabel = String,
                    rowName = 'row',
                    columnName = 'column',
                } = this.options;
                const value = this.value(cell);
                const told = value === undefined ? '…' : digits(value, this.matrix.dtype);
                const [row, column] = [rowLabel(cell.row), columnLabel(cell.column)];
                this.tip.show(x, y, `${rowName} ${row}, ${columnName} ${column}: ${told}`);
                this.options.onCursor?.(cell, value, false);
            },
            leave: () => {
                this.tip.hide();
                if (this.cursor) this.options.onCursor?.(this.cursor, this.value(this.cursor), false);
            },
        });
    }

    /** What is seen of it: until it is painted, the one before. */
    get picture() {
        return this.options.before ?? this.canvas;
    }

    /** Take a window and a cursor over from the address. @param {string} words @param {Cell | null} cursor */
    show(words, cursor) {
        this.window = words === '' ? whole(this.matrix) : parse(words, this.matrix);
        this.cursor = cursor;
        this.draw();
    }

    /** Let go of what is under way. */
    stop() {
        this.chunks.stop();
        this.overview?.stop();
        this.painted.stop();
        this.theme.removeEventListener('change', this.draw);
    }

    /** What is in view, as a table has it. @returns {import('./table.js').Part} */
    get part() {
        const { matrix, window } = this;
        const { rowLabel = String, columnLabel = String, name: caption } = this.options;
        return { matrix, window, rowLabel, columnLabel, caption };
    }

    /** The value of a cell, if it has been read. @param {Cell} cell */
    value(cell) {
        const index = Math.floor(cell.row / this.chunks.high);
        const chunk = this.chunks.get(index);
        return chunk?.data[(cell.row - index * this.chunks.high) * this.matrix.columns + cell.column];
    }

    /** Which colours values have. */
    get scale() {
        const pooled = this.#pooled && this.matrix.dtype !== 'int32' ? this.overview?.held?.ends : undefined;
        const [least, most] = this.options.bounds?.() ?? pooled ?? this.chunks.bounds;
        return scaleOf(least, most, this.matrix.dtype);
    }

    /** Whether the service draws what is in view. */
    get #pooled() {
        return large(this.window, this.matrix);
    }

    /** The part of the canvas that shows the matrix, in CSS pixels. */
    get #area() {
        const { clientWidth, clientHeight } = this.canvas;
        const { top, right, bottom, left } = this.margin;
        const size = unit();
        const width = Math.max(1, clientWidth - (left + right) * size);
        const height = Math.max(1, clientHeight - (top + bottom) * size);
        return { left: left * size, top: top * size, width, height };
    }

    /** Where a place of the matrix is drawn. @param {number} row @param {number} column */
    #spot(row, column) {
        const { left, top, width, height } = this.#area;
        const { window } = this;
        return {
            x: left + ((column - window.column) / window.columns) * width,
            y: top + ((row - window.row) / window.rows) * height,
            wide: width / window.columns,
            high: height / window.rows,
        };
    }

    /** Show a window. @param {import('./view.js').Window} window */
    look(window) {
        const words = text(bounded(window, this.matrix));
        this.window = parse(words, this.matrix);
        this.options.onView?.(this.window);
        this.draw();
    }

    /** About a point, or the middle. @param {number} factor @param {number} [x] @param {number} [y] */
    zoom(factor, x, y) {
        const { left, top, width, height } = this.#area;
        const across = x === undefined ? 0.5 : clamp((x - left) / width, 0, 1);
        const down = y === undefined ? 0.5 : clamp((y - top) / height, 0, 1);
        this.look(zoomed(this.window, factor, across, down));
    }

    /** @param {number} x @param {number} y @returns {Cell} */
    #cell(x, y) {
        const origin = this.#spot(0, 0);
        return this.#within({
            row: Math.floor((y - origin.y) / origin.high),
            column: Math.floor((x - origin.x) / origin.wide),
        });
    }

    /** The cell of the matrix that is nearest to one. @param {Cell} cell @returns {Cell} */
    #within({ row, column }) {
        return { row: clamp(row, 0, this.matrix.rows - 1), column: clamp(column, 0, this.matrix.columns - 1) };
    }

    /** Set the cursor. @param {Cell} cell @param {boolean} done */
    move(cell, done) {
        this.cursor = this.#within(cell);
        this.options.onCursor?.(this.cursor, this.value(this.cursor), done);
        this.draw();
    }

    /** @param {KeyboardEvent} event */
    #key(event) {
        const { key, shiftKey } = event;
        const { window, matrix } = this;
        const at = this.cursor ?? { row: Math.floor(window.row), column: Math.floor(window.column) };
        const page = Math.max(1, Math.floor(window.rows));
        /** @type {Record<string, [number, number]>} */
        const steps = {
            PageUp: [0, -page],
            PageDown: [0, page],
            Home: [-at.column, -at.row],
            End: [matrix.columns, matrix.rows],
        };
        const [along, down] = ARROWS[key]?.map((by) => by * (shiftKey ? 10 : 1)) ?? steps[key] ?? [];
        const { x, y } = this.#spot(at.row + 0.5, at.column + 0.5);
        if (along !== undefined) {
            this.move({ row: at.row + down, column: at.column + along }, true);
            this.look(showing(window, /** @type {Cell} */ (this.cursor)));
        } else if (key === '+' || key === '=') this.zoom(KEY_ZOOM, x, y);
        else if (key === '-') this.zoom(1 / KEY_ZOOM, x, y);
        else if (key === '0') this.look(whole(matrix));
        else return;
        event.preventDefault();
    }

    #paint() {
        const ratio = devicePixelRatio;
        const { canvas } = this;
        if (canvas.clientWidth === 0) return;
        const [wide, high] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
        if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
        const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
        const { before } = this.options;
        if (before && !this.#pooled) {
            if (before.width > 0) context.drawImage(before, 0, 0, canvas.clientWidth, canvas.clientHeight);
            const { row, rows } = this.window;
            this.chunks.want(Math.floor(row), Math.ceil(row + rows));
            if (this.chunks.get(Math.floor(row / this.chunks.high)) === undefined) return;
            context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
        }
        this.options.before = undefined;
        if (this.#pooled) this.#paintPooled(context, ratio);
        else this.#paintCells(context, ratio);
        if (!this.options.bare) this.#paintAxes(context);
        this.#paintCursor(context);
        this.legend.show(this.scale);
    }

    /** Draw within the axes. @param {CanvasRenderingContext2D} context @param {() => void} draw */
    #clipped(context, draw) {
        const { left, top, width, height } = this.#area;
        context.save();
        context.beginPath();
        context.rect(left, top, width, height);
        context.clip();
        draw();
        context.restore();
    }

    /** Draw the picture of a part of the matrix where the window has it.
     * @param {CanvasRenderingContext2D} context @param {CanvasImageSource} picture @param {import('./view.js').Window} part */
    #put(context, picture, part) {
        const { x, y, wide, high } = this.#spot(part.row, part.column);
        this.#clipped(context, () => context.drawImage(picture, x, y, part.columns * wide, part.rows * high));
    }

    /** What the service has drawn. Of the chunks only that of the cursor is read.
     * @param {CanvasRenderingContext2D} context @param {number} ratio */
    #paintPooled(context, ratio) {
        const { left, top, width, height } = this.#area;
        const { columns } = this.window;
        const at = this.cursor?.row ?? -1;
        this.chunks.want(at, at);
        this.overview?.want(this.window, (width * ratio * this.matrix.columns) / columns, height * ratio);
        context.fillStyle = ink(this.canvas, '--skeleton');
        context.fillRect(left, top, width, height);
        const held = this.overview?.held;
        if (!held) return;
        context.imageSmoothingEnabled = false;
        this.#put(context, held.picture, { ...held, column: 0, columns: this.matrix.columns });
        this.#caption(`The service shows the ${held.words}.`);
    }

    /** @param {CanvasRenderingContext2D} context @param {number} ratio */
    #paintCells(context, ratio) {
        const { width, height } = this.#area;
        const { row, rows, column, columns } = this.window;
        this.chunks.want(Math.floor(row), Math.ceil(row + rows));
        const down = level(rows, height * ratio);
        const across = level(columns, width * ratio);
        const held = Math.min(down, Math.log2(this.chunks.high));
        const [high, wide] = [2 ** held, 2 ** across];
        const first = { row: Math.floor(row / high), column: Math.floor(column / wide) };
        const n = {
            rows: Math.ceil((row + rows) / high) - first.row,
            columns: Math.ceil((column + columns) / wide) - first.column,
        };
        // The cells from the first on are one pixel each, or two by two where they are pooled.
        const each = held + across === 0 ? 1 : 2;
        const image = new ImageData(n.columns * each, n.rows * each);
        const pixels = new Uint32Array(image.data.buffer);
        const none = inkWord(this.canvas, '--none');
        const own = { key: `${this.scale.from} ${this.scale.to}`, paint: painter(this.scale, none) };
        const colours = this.options.paint?.(none) ?? own;
        const manner = { down: held, across, key: `${colours.key} ${none}`, paint: colours.paint };
        const perChunk = (this.chunks.high / high) * each;
        pixels.fill(inkWord(this.canvas, '--skeleton'));
        for (let r = 0; r < image.height; r++) {
            const index = Math.floor((first.row * each + r) / perChunk);
            const texels = this.chunks.get(index)?.texels(manner);
            const start = (first.row * each + r - index * perChunk) * (texels?.width ?? 0) + first.column * each;
            if (texels) pixels.set(texels.words.subarray(start, start + image.width), r * image.width);
        }
        if (this.texels.width !== image.width || this.texels.height !== image.height)
            this.texels = new OffscreenCanvas(image.width, image.height);
        /** @type {OffscreenCanvasRenderingContext2D} */ (this.texels.getContext('2d')).putImageData(image, 0, 0);
        // Cells that a chunk is too low to pool are smaller than pixels: they are blended, and none is left out.
        context.imageSmoothingEnabled = held < down;
        const part = { row: first.row * high, rows: n.rows * high };
        this.#put(context, this.texels, { ...part, column: first.column * wide, columns: n.columns * wide });
        const covers = `Each square is a chequer of the least and the greatest of ${high} × ${wide} values.`;
        this.#caption(high * wide > 1 ? covers : '');
    }

    /** @param {string} covers what a drawn square stands for */
    #caption(covers) {
        const { rows, columns } = this.window;
        const [seen, all] = [Math.round(rows), this.matrix.rows].map((n) => n.toLocaleString('en'));
        const part = Math.floor(rows) < this.matrix.rows && columns === this.matrix.columns;
        const words = [covers, part && `${seen} of ${all} rows are in view.`].filter(Boolean).join(' ');
        if (this.note.textContent !== words) this.note.textContent = words;
    }

    /** @param {CanvasRenderingContext2D} context */
    #paintAxes(context) {
        const { left, top, width, height } = this.#area;
        const { row, rows, column, columns } = this.window;
        const { rowLabel = String, columnLabel = String, rowName = 'row', columnName = 'column' } = this.options;
        const size = unit();
        context.font = `${12 * size}px ${getComputedStyle(this.canvas).fontFamily}`;
        context.fillStyle = ink(this.canvas, '--soft');
        context.strokeStyle = ink(this.canvas, '--line');
        context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        for (const tick of ticks(row, rows, height / (40 * size)))
            context.fillText(rowLabel(tick), left - 6, this.#spot(tick + 0.5, 0).y, left - 8);
        context.textAlign = 'center';
        context.textBaseline = 'top';
        for (const tick of ticks(column, columns, width / (TICK_EVERY * size)))
            context.fillText(columnLabel(tick), this.#spot(0, tick + 0.5).x, top + height + 5);
        context.textAlign = 'right';
        context.fillText(`${columnName} →`, left + width, top + height + 20 * size);
        context.textAlign = 'left';
        context.fillText(`↓ ${rowName}`, 0, top + height + 20 * size);
    }

    /** @param {CanvasRenderingContext2D} context */
    #paintCursor(context) {
        if (this.cursor === null) return;
        const { left, top, width, height } = this.#area;
        const { x, y, wide: w, high: t } = this.#spot(this.cursor.row, this.cursor.column);
        const mark = /** @param {string} colour @param {number} wider */ (colour, wider) => {
            context.strokeStyle = ink(this.canvas, colour);
            context.lineWidth = 1 + wider;
            context.globalAlpha = 0.5;
            context.strokeRect(left - 2, y + t / 2, width + 4, 0);
            context.strokeRect(x + w / 2, top - 2, 0, height + 4);
            context.lineWidth = 2 + wider;
            context.globalAlpha = 1;
            context.strokeRect(x - 1, y - 1, Math.max(w, 3) + 2, Math.max(t, 3) + 2);
        };
        // Paper around it, so that it is seen on every colour.
        this.#clipped(context, () => [mark('--paper', 2), mark('--accent', 0)]);
    }
}

/** Whole numbers at even distances. @param {number} first @param {number} n @param {number} most */
function ticks(first, n, most) {
    if (n <= 1) return [Math.round(first)].filter((tick) => tick < first + n - 0.5);
    return scale([first, first + n - 1], [0, 1])
        .ticks(Math.max(1, Math.min(most, n)))
        .filter((tick) => Number.isInteger(tick) && tick >= first - 0.5 && tick < first + n - 0.5);
}
