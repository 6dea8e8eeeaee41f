// upload.js - a file of tensors that somebody drops: .npy or .safetensors, read here only to be shown.
import { DTYPES, Tensor, parse } from '../parts/safetensors.js';

/** @typedef {Map<string, Tensor>} Tensors */
/** @typedef {{name: string, bytes: ArrayBuffer, tensors: Tensors, npy: boolean}} Upload */

// After a first byte that is no text.
const MAGIC = 'NUMPY';
/** @type {Record<string, string>} */
const NPY_TYPES = { f2: 'F16', f4: 'F32', f8: 'F64', i4: 'I32' };

/** @param {string} dtype @param {number[]} shape @param {number} from */
function entry(dtype, shape, from) {
    const length = shape.reduce((product, n) => product * n, 1);
    /** @type {[number, number]} */
    const data_offsets = [from, from + length * DTYPES[dtype].bytes];
    return { dtype, shape, data_offsets };
}

/** The one tensor of an .npy file. Source: the format 1.0 of NumPy, numpy.lib.format. @param {ArrayBuffer} bytes */
function array(bytes) {
    const view = new DataView(bytes);
    const [size, start] = view.getUint8(6) === 1 ? [view.getUint16(8, true), 10] : [view.getUint32(8, true), 12];
    const head = new TextDecoder().decode(new Uint8Array(bytes, start, size));
    const kind = head.match(/'descr': *'[<|=]?(\w+)'/)?.[1] ?? '';
    const shape = (head.match(/'shape': *\(([^)]*)\)/)?.[1] ?? '')
        .split(',')
        .filter((n) => n.trim() !== '')
        .map(Number);
    if (NPY_TYPES[kind] === undefined || /'fortran_order': *True/.test(head))
        throw new Error(
            `This .npy has elements of type ${kind}; float16, float32, float64 and int32 in C order can be read.`,
        );
    return new Tensor('table', entry(NPY_TYPES[kind], shape, 0), start + size, bytes, undefined);
}

/** @param {string} name @param {ArrayBuffer} bytes @returns {Upload} */
export function read(name, bytes) {
    const first = new TextDecoder().decode(bytes.slice(1, 1 + MAGIC.length));
    if (first === MAGIC) return { name, bytes, tensors: new Map([['table', array(bytes)]]), npy: true };
    try {
        return { name, bytes, tensors: parse(bytes, undefined).tensors, npy: false };
    } catch {
        throw new Error(`${name} is neither .npy nor .safetensors.`);
    }
}

/** What is sent to the server. @param {Upload} upload */
export function blob({ bytes, npy }) {
    return new Blob([bytes], { type: npy ? 'application/x-npy' : 'application/vnd.safetensors' });
}

/** Tensors of a file under other names, as safetensors. @param {(readonly [name: string, tensor: Tensor])[]} list */
export async function renamed(list) {
    /** @type {Record<string, object>} */
    const head = {};
    /** @type {ArrayBuffer[]} */
    const parts = [];
    let from = 0;
    for (const [name, tensor] of list) {
        const bytes = await tensor.bytes();
        head[name] = entry(tensor.code, tensor.shape, from);
        parts.push(bytes);
        from += bytes.byteLength;
    }
    const text = new TextEncoder().encode(JSON.stringify(head));
    const size = new DataView(new ArrayBuffer(8));
    size.setBigUint64(0, BigInt(text.length), true);
    return new Blob([size, text, ...parts], { type: 'application/vnd.safetensors' }).arrayBuffer();
}

/** A tensor of numbers that are held already. @param {string} name @param {number[]} shape @param {Float64Array} data */
export function held(name, shape, data) {
    return new Tensor(name, entry('F64', shape, 0), 0, /** @type {ArrayBuffer} */ (data.buffer), undefined);
}
