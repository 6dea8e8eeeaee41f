// facts.js - what a cell of a table is: its position, pair, frequency and formula. All numbers are the server's.
import { tensors } from './api.js';
import { alibi, bucket, clipped, frequency, slope, windowed } from './distances.js';
import { call, formula, fraction, power, row } from './formula.js';
import { brief, digits } from './number.js';
import { positionOf } from './positions.js';
import { valueFacts } from './readout.js';

/** @import { LookUp } from './distances.js' */
/** @import { Part } from './formula.js' */
/** @import { Fact } from './readout.js' */
/** @import { Answer, Tensor } from './safetensors.js' */

/** @typedef {{row: number, column: number}} Cell */
/**
 * @typedef {object} Meaning what rows and columns of a tensor are
 * @property {string} rowName
 * @property {((row: number) => number) | undefined} placed the position or offset of a row
 * @property {string} valueName
 * @property {string} columnName
 * @property {(row: number) => string} rowLabel
 * @property {(column: number) => string} columnLabel
 * @property {(cell: Cell, value: number | undefined, slice?: number) => Fact[]} facts of which matrix, where there are several
 */

/** What is known of a cell beside its value. `formula`: what its value is, in words or as the parts before "= value".
 * @typedef {{formula: string | Part[], [name: string]: Fact[1] | Part[]}} Known */
/** @typedef {(cell: Cell, position: number | undefined, slice: number, value: number | undefined) => Known | null} More */

/** @type {Map<string, ArrayLike<number>[] | null>} */
const known = new Map();

/** Tensors that explain others, kept; null until they are there. @param {() => void} arrived @returns {LookUp} */
const lookUp = (arrived) => (path, values, names) => {
    const key = JSON.stringify([path, values]);
    const held = known.get(key);
    if (held !== undefined) return held;
    known.set(key, null);
    tensors(path, values)
        .then(async ({ tensors: all }) => {
            const found = names.map((name) => all.get(name) ?? all.values().next().value);
            known.set(key, await Promise.all(found.map(async (tensor) => (await tensor?.all()) ?? [])));
            arrived();
        })
        .catch(() => known.delete(key));
    return null;
};

/** The frequency and the wavelength of a pair, once they are there.
 * @param {LookUp} look @param {Record<string, string>} values of the rotation @param {number} pair
 * @returns {Record<string, string | number>} */
function waveOf(look, values, pair) {
    const found = look('/v1/rope/frequencies', { ...values, dtype: 'float64' }, ['inv_freq', 'wavelength']);
    if (found === null) return { pair };
    const [frequency, wavelength] = found.map((list) => digits(list[pair]));
    return { pair, frequency, wavelength: `${wavelength} tokens` };
}

/** Which function of which pair stands in a column of a sinusoidal table. @param {number} column @param {number} width @param {unknown} layout */
function waveAt(column, width, layout) {
    if (layout === 'interleaved') return { pair: column >> 1, name: column % 2 === 0 ? 'sin' : 'cos' };
    const first = column < width / 2;
    return { pair: first ? column : column - width / 2, name: first === (layout === 'sin_cos') ? 'sin' : 'cos' };
}

/** @param {Answer} answer @param {LookUp} look @returns {More | undefined} */
function sinusoidal({ parameters, tensors: all }, look) {
    const {
        d_model: width,
        base,
        layout,
        freq_shift: shift,
        scale,
        amplitude,
    } = /** @type {Record<string, number>} */ (parameters);
    if (shift !== 0 || width % 2 !== 0 || all.size !== 1) return undefined;
    const times = amplitude === 1 ? [] : [brief(amplitude, 17), '·'];
    return ({ column }, position) => {
        if (position === undefined) return null;
        const { pair, name } = waveAt(column, width, layout);
        const place = scale === 1 ? String(position) : row(position, '·', brief(scale, 17));
        const angle = fraction(place, power(String(base), row(2 * pair, '/', width)));
        const waves = waveOf(look, { head_dim: String(width), rope_theta: String(base) }, pair);
        return { ...waves, formula: [...times, call(name, angle)] };
    };
}

const NOT_FREQUENCIES = ['positions', 'numerics', 'cache_layout', 'pairing', 'dtype'];

/** @param {Answer} answer @param {LookUp} look @param {string} tensor @returns {More | undefined} */
function rope({ parameters, scalars }, look, tensor) {
    if (!['cos', 'sin'].includes(tensor) || parameters.cache_layout !== 'pairs') return undefined;
    const factor = Number(scalars.attention_factor ?? 1);
    const times = factor === 1 ? [] : [digits(factor), '·'];
    const own = Object.entries(parameters).filter(([name]) => !NOT_FREQUENCIES.includes(name));
    const values = Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
    return ({ column }, position) => {
        if (position === undefined) return null;
        const waves = waveOf(look, values, column);
        return { ...waves, formula: [...times, call(tensor, position, '·', waves.frequency ?? '…')] };
    };
}

/** What is known of the cells of a resource beside their value.
 * @type {Record<string, (answer: Answer, look: LookUp, tensor: string) => More | undefined>} */
const KNOWN = {
    '/v1/sinusoidal': sinusoidal,
    '/v1/rope/table': rope,
    '/v1/rope/frequencies': frequency,
    '/v1/alibi/slopes': slope,
    '/v1/alibi/bias': alibi,
    '/v1/t5/buckets': bucket,
    '/v1/shaw/indices': clipped,
    '/v1/swin/index': windowed,
};

/** @param {string} path @param {Record<string, unknown>} parameters @param {Tensor} tensor */
function columnsOf(path, parameters, { name, columns }) {
    if (/^\/v1\/swin\/(index|bias)$/.test(path)) return { rowName: 'query patch', columnName: 'key patch' };
    if (parameters.key_length !== undefined || parameters.query_length !== undefined)
        return { rowName: 'query', columnName: 'key' };
    if (parameters.d_model !== undefined) return { rowName: 'row', columnName: 'dimension' };
    if (['cos', 'sin', 'inv_freq', 'wavelength', 'stretch'].includes(name))
        return { rowName: 'row', columnName: columns === parameters.rotary_dim ? 'channel' : 'pair' };
    if (['inputs', 'rotated'].includes(name) || path.endsWith('/rotate'))
        return { rowName: 'row', columnName: 'channel' };
    return { rowName: 'row', columnName: 'column' };
}

/** What the cells of a tensor mean. @param {string} path @param {Answer} found @param {Tensor} tensor
 * @param {() => void} arrived facts that were asked for have come @returns {Meaning} */
export function meaning(path, found, tensor, arrived) {
    const rows = tensor.shape.length > 1 ? (tensor.shape.at(-2) ?? 1) : tensor.length;
    const { positions, offsets } = found.parameters;
    const position = positionOf(positions ?? offsets, rows);
    const names = columnsOf(path, found.parameters, tensor);
    const special = KNOWN[path]?.(found, lookUp(arrived), tensor.name);
    const rowName = position ? (positions === undefined ? 'offset' : 'position') : names.rowName;
    return {
        ...names,
        rowName,
        placed: position,
        valueName: tensor.name === 'data' ? (path.split('/').at(-1) ?? '') : tensor.name,
        rowLabel: (index) => (position ? brief(position(index), 15) : String(index)),
        columnLabel: String,
        facts: (cell, value, slice = 0) => {
            const at = position?.(cell.row);
            const { formula: told, ...more } = special?.(cell, at, slice, value) ?? {};
            const result = value === undefined ? '…' : digits(value, tensor.dtype);
            const whole = typeof told === 'string' ? told : told && formula(...told, '=', result);
            return [
                [rowName, at ?? cell.row],
                [names.columnName, cell.column],
                ...valueFacts(value, tensor.dtype),
                .../** @type {Fact[]} */ (Object.entries(more)),
                ...(whole === undefined ? [] : [/** @type {Fact} */ (['formula', whole])]),
            ];
        },
    };
}
