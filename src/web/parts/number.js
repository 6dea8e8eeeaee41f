// number.js - numbers as text and as bits.

const word = new DataView(new ArrayBuffer(8));

/** The value of a bfloat16. @param {number} bits */
export function bf16(bits) {
    word.setUint32(0, bits * 65536);
    return word.getFloat32(0);
}

/** The shortest digits that read back to the same value of the type. @param {number} value @param {string} [dtype] */
export function digits(value, dtype = 'float64') {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '−∞' : '∞';
    return minus(
        dtype === 'float64' || dtype === 'int32' ? String(value) : shortest(value, NEAREST[dtype] ?? Math.fround),
    );
}

/** @param {string} text */
const minus = (text) => text.replace(/^-/, '−').replace(/e-/, 'e−');

/** The value of a type that is nearest to a number. @type {Record<string, (value: number) => number>} */
export const NEAREST = { float32: Math.fround, float16: Math.f16round, bfloat16: (value) => bf16(brain(value)) };

/** @param {number} value @param {(value: number) => number} round */
function shortest(value, round) {
    for (let places = 1; places < 17; places++) {
        const text = value.toPrecision(places);
        if (round(Number(text)) === value) return String(Number(text));
    }
    return String(value);
}

/** The bfloat16 nearest to a number; ties go to even. @param {number} value */
function brain(value) {
    word.setFloat32(0, value);
    const bits = word.getUint32(0);
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** The bits of a value as hexadecimal digits. @param {number} value @param {string} [dtype] */
export function hex(value, dtype = 'float64') {
    if (dtype === 'float64') {
        word.setFloat64(0, value);
        return `0x${word.getBigUint64(0).toString(16).padStart(16, '0')}`;
    }
    if (dtype === 'float16') word.setFloat16(0, value);
    if (dtype === 'bfloat16') word.setUint16(0, brain(value));
    if (dtype.endsWith('16')) return `0x${word.getUint16(0).toString(16).padStart(4, '0')}`;
    if (dtype === 'int32') word.setInt32(0, value);
    else word.setFloat32(0, value);
    return `0x${word.getUint32(0).toString(16).padStart(8, '0')}`;
}

/** A number for labels: few digits, groups of three apart. @param {number} value @param {number} [places] */
export function brief(value, places = 4) {
    if (!Number.isFinite(value)) return value < 0 ? '−∞' : Number.isNaN(value) ? 'NaN' : '∞';
    if (Number.isInteger(value) && Math.abs(value) < 1e9) return minus(grouped(String(value)));
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e9))
        return minus(value.toExponential(places - 1).replace(/\.?0+e/, 'e'));
    return minus(grouped(String(Number(value.toPrecision(Math.max(places, Math.ceil(Math.log10(size))))))));
}

/** A number beside an axis, where a long one has no room. @param {number} value */
export const tick = (value) => (Math.abs(value) < 1e6 ? brief(value) : minus(value.toExponential().replace('e+', 'e')));

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));

/** @param {string} text */
function grouped(text) {
    const [whole, fraction] = text.split('.');
    const apart = /\d{5}/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
    return fraction === undefined ? apart : `${apart}.${fraction}`;
}

/** Pairs from the first to the last, closer together where they are faster. @param {number} all @param {number} most */
export function spread(all, most) {
    const n = Math.min(all, most);
    return Array.from({ length: n }, (_, i) => (n === 1 ? 0 : Math.max(i, Math.round((i / (n - 1)) ** 2 * (all - 1)))));
}

/** The largest difference of two rows. @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
export const apart = (a, b) => Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

/** What a text stands for: the value of its JSON, or itself where it is none. @param {string} text */
export function valueOf(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}
