// safetensors.js - a numeric answer whose rows are read when they are wanted.
import { bf16, valueOf } from './number.js';

/** @typedef {(first: number, bytes: number, signal?: AbortSignal) => Promise<ArrayBuffer>} Fetch */
/** @typedef {Float32Array | Float64Array | Int32Array} Numbers */

/** @type {Record<string, {bytes: number, name: string, view: (data: ArrayBuffer) => Numbers}>} */
export const DTYPES = {
    F32: { bytes: 4, name: 'float32', view: (data) => new Float32Array(data) },
    F64: { bytes: 8, name: 'float64', view: (data) => new Float64Array(data) },
    I32: { bytes: 4, name: 'int32', view: (data) => new Int32Array(data) },
    F16: { bytes: 2, name: 'float16', view: (data) => Float32Array.from(new Float16Array(data)) },
    BF16: { bytes: 2, name: 'bfloat16', view: (data) => Float32Array.from(new Uint16Array(data), bf16) },
};

/** A tensor of an answer, seen as rows of its last axis. */
export class Tensor {
    /** @param {string} name @param {{dtype: string, shape: number[], data_offsets: [number, number]}} entry
     * @param {number} start offset of the data in the answer @param {ArrayBuffer} head the answer's first bytes
     * @param {Fetch | undefined} more reads others */
    constructor(name, entry, start, head, more) {
        const kind = DTYPES[entry.dtype];
        if (kind === undefined) throw new Error(`${name} has elements of the unknown type ${entry.dtype}`);
        this.name = name;
        this.code = entry.dtype;
        this.dtype = kind.name;
        this.shape = entry.shape;
        this.columns = entry.shape.at(-1) ?? 1;
        this.length = entry.shape.reduce((product, n) => product * n, 1);
        this.rows = this.columns === 0 ? 0 : this.length / this.columns;
        /** @private */ this.kind = kind;
        /** @private */ this.start = start + entry.data_offsets[0];
        /** @private */ this.head = head;
        /** @private */ this.more = more;
    }

    /** Elements [first, first + count), in the order of memory. @param {number} first @param {number} count
     * @param {AbortSignal} [signal] @returns {Promise<Numbers>} */
    async elements(first, count, signal) {
        return this.kind.view(await this.bytes(first, count, signal));
    }

    /** @param {number} first @param {number} count @param {AbortSignal} [signal] */
    read(first, count, signal) {
        return this.elements(first * this.columns, count * this.columns, signal);
    }

    /** The same as they are stored. @param {number} [first] @param {number} [count] @param {AbortSignal} [signal] */
    async bytes(first = 0, count = this.length, signal) {
        const [from, size] = [this.start + first * this.kind.bytes, count * this.kind.bytes];
        if (from + size <= this.head.byteLength || this.more === undefined) return this.head.slice(from, from + size);
        return this.more(from, size, signal);
    }

    /** @param {AbortSignal} [signal] */
    all(signal) {
        return this.elements(0, this.length, signal);
    }

    /** One of the matrices that a tensor of three or more axes consists of, or this one itself.
     * @param {number} index */
    matrix(index) {
        const rows = this.shape.at(-2) ?? 1;
        return {
            name: this.name,
            dtype: this.dtype,
            rows,
            columns: this.columns,
            /** @type {(first: number, count: number, signal?: AbortSignal) => Promise<Numbers>} */
            read: (first, count, signal) => this.read(index * rows + first, count, signal),
        };
    }
}

/** @typedef {ReturnType<Tensor['matrix']> & {pool?: import('./pooled.js').Pool}} Matrix */
/** A matrix of numbers that are there. @param {string} name @param {Numbers} data row by row @param {number} columns
 * @param {string} [dtype] @returns {Matrix} */
export const matrixOf = (name, data, columns, dtype = 'float64') => ({
    name,
    dtype,
    rows: data.length / columns,
    columns,
    read: async (first, count) => data.slice(first * columns, (first + count) * columns),
});

/**
 * @typedef {object} Answer
 * @property {Map<string, Tensor>} tensors
 * @property {Record<string, unknown>} parameters canonical, with defaults
 * @property {Record<string, unknown>} scalars
 */

/** Read the header of an answer. @param {ArrayBuffer} head the answer's first bytes, or all
 * @param {Fetch | undefined} more @returns {Answer} */
export function parse(head, more) {
    const bytes = Number(new DataView(head).getBigUint64(0, true));
    const text = new TextDecoder().decode(new Uint8Array(head, 8, bytes));
    const { __metadata__: metadata = {}, ...entries } = JSON.parse(text);
    const facts = Object.fromEntries(Object.entries(metadata).map(([name, fact]) => [name, valueOf(fact)]));
    const { parameters = {}, ...scalars } = facts;
    const tensors = new Map(
        Object.entries(entries).map(([name, entry]) => [name, new Tensor(name, entry, 8 + bytes, head, more)]),
    );
    return { tensors, parameters, scalars };
}
