// chunks.js - the rows of a matrix, read in chunks as they come into view and kept within a budget.

/** @import { Matrix, Numbers } from './safetensors.js' */

/** Pooled cells: the least and the greatest value of what each covers.
 * @typedef {{rows: number, columns: number, min: Numbers, max: Numbers}} Pool */

const CHUNK_ELEMENTS = 1 << 17;
const KEPT_ELEMENTS = 1 << 25;
const AT_ONCE = 4;

/** How cells become pixels: 2^down rows and 2^across columns each, and the word of each value.
 * @typedef {object} Manner
 * @property {number} down
 * @property {number} across
 * @property {string} key of the colours
 * @property {(value: number) => number} paint
 */
/** @typedef {{width: number, height: number, words: Uint32Array}} Texels */

/** Rows of the matrix, and how they were last drawn. */
class Chunk {
    /** @param {Numbers} data @param {number} rows @param {number} columns */
    constructor(data, rows, columns) {
        this.rows = rows;
        this.columns = columns;
        this.data = data;
        this.bounds = bounds(data);
        /** @private */ this.drawn = '';
        /** @private @type {Texels} */ this.held = { width: 0, height: 0, words: new Uint32Array(0) };
    }

    /** The pixels of all rows. @param {Manner} manner */
    texels({ down, across, key, paint }) {
        const how = `${down},${across},${key}`;
        if (how === this.drawn) return this.held;
        this.held = texels(pooled(this.data, this.rows, this.columns, 1 << down, 1 << across), paint);
        this.drawn = how;
        return this.held;
    }
}

/** A pixel for each cell, or two by two: the least and the greatest across.
 * @param {Pool} pool @param {(value: number) => number} paint @returns {Texels} */
function texels({ rows, columns, min, max }, paint) {
    const each = min === max ? 1 : 2;
    const width = each * columns;
    const words = new Uint32Array(each * rows * width);
    for (let row = 0, cell = 0; row < rows; row++)
        for (let column = 0; column < columns; column++, cell++) {
            const at = each * (row * width + column);
            words[at] = paint(min[cell]);
            if (each === 1) continue;
            words[at + width + 1] = words[at];
            words[at + 1] = words[at + width] = paint(max[cell]);
        }
    return { width, height: each * rows, words };
}

/** @param {Numbers} data @param {number} rows @param {number} columns @param {number} high @param {number} wide @returns {Pool} */
function pooled(data, rows, columns, high, wide) {
    if (high === 1 && wide === 1) return { rows, columns, min: data, max: data };
    const across = Math.ceil(columns / wide);
    const down = Math.ceil(rows / high);
    const min = new Float64Array(down * across).fill(Infinity);
    const max = new Float64Array(down * across).fill(-Infinity);
    for (let row = 0, at = 0; row < rows; row++) {
        const start = Math.floor(row / high) * across;
        for (let column = 0; column < columns; column++, at++) {
            const cell = start + Math.floor(column / wide);
            if (data[at] < min[cell]) min[cell] = data[at];
            if (data[at] > max[cell]) max[cell] = data[at];
        }
    }
    return { rows: down, columns: across, min, max };
}

/** @typedef {[least: number, most: number]} Bounds */

/** The least and the greatest finite number. @param {Numbers} data @returns {Bounds} */
export function bounds(data) {
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i < data.length; i++) {
        const value = data[i];
        if (value < least && value > -Infinity) least = value;
        if (value > most && value < Infinity) most = value;
    }
    return [least, most];
}

/** @type {Bounds} */
const NOTHING = [Infinity, -Infinity];

/** @param {Bounds[]} all @returns {Bounds} */
export const widest = (all) => [Math.min(...all.map(([least]) => least)), Math.max(...all.map(([, most]) => most))];

export class Chunks {
    /** @param {Matrix} matrix @param {() => void} arrived @param {(error: unknown) => void} failed */
    constructor(matrix, arrived, failed) {
        this.matrix = matrix;
        /** @private */ this.arrived = arrived;
        /** @private */ this.failed = failed;
        this.high = 2 ** Math.max(0, Math.floor(Math.log2(CHUNK_ELEMENTS / Math.max(1, matrix.columns))));
        /** @private @type {Map<number, Chunk>} */ this.held = new Map();
        /** @private @type {Map<number, AbortController>} */ this.coming = new Map();
        /** @private @type {number[]} */ this.wanted = [];
        /** @private @type {number[]} */ this.seen = [];
        /** Of rows that are read beside the chunks. @type {Bounds[]} */ this.beside = [];
    }

    /** Of what is in view, and of the rows beside: on them the colours depend, and not on what was seen before. */
    get bounds() {
        return widest([...this.beside, ...this.seen.map((index) => this.held.get(index)?.bounds ?? NOTHING)]);
    }

    /** The chunk of this index, if it is there. @param {number} index */
    get(index) {
        return this.held.get(index);
    }

    /** Ask for the chunks of rows [first, last), and for their neighbours after them. Requests for others end.
     * @param {number} first @param {number} last */
    want(first, last) {
        const end = Math.ceil(this.matrix.rows / this.high) - 1;
        const low = Math.max(0, Math.floor(first / this.high));
        const high = Math.min(end, Math.floor(Math.max(first, last - 1) / this.high));
        this.seen = Array.from({ length: high - low + 1 }, (_, i) => low + i);
        const wanted = [...this.seen];
        if (high < end) wanted.push(high + 1);
        if (low > 0) wanted.push(low - 1);
        for (const [index, control] of this.coming) if (!wanted.includes(index)) control.abort();
        this.wanted = wanted.filter((index) => !this.held.has(index) && !this.coming.has(index));
        // Chunks beyond the budget are forgotten, those furthest from view first.
        const most = Math.max(wanted.length, Math.floor(KEPT_ELEMENTS / (this.high * this.matrix.columns)));
        const far = [...this.held.keys()].sort((a, b) => Math.abs(b - low) - Math.abs(a - low));
        for (const index of far.slice(0, Math.max(0, this.held.size - most)))
            if (!wanted.includes(index)) this.held.delete(index);
        void this.#next();
    }

    /** Stop all requests. */
    stop() {
        this.wanted = [];
        for (const control of this.coming.values()) control.abort();
    }

    /** Read the next of those that are wanted, while there is room. */
    async #next() {
        const index = this.coming.size < AT_ONCE ? this.wanted.shift() : undefined;
        if (index === undefined) return;
        const control = new AbortController();
        this.coming.set(index, control);
        void this.#next();
        const first = index * this.high;
        const rows = Math.min(this.high, this.matrix.rows - first);
        try {
            const data = await this.matrix.read(first, rows, control.signal);
            this.held.set(index, new Chunk(data, rows, this.matrix.columns));
            this.arrived();
        } catch (error) {
            if (!control.signal.aborted) this.failed(error);
        }
        this.coming.delete(index);
        void this.#next();
    }
}
