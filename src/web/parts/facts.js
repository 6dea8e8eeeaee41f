// facts.js - what a cell of a table is: its position, pair, frequency and formula. All numbers are the server's.
import { tensors } from './api.js';
import { call, formula, fraction, power, row, sub } from './formula.js';
import { brief, digits } from './number.js';
import { texts } from './place.js';
import { positionOf } from './positions.js';
import { valueFacts } from './readout.js';

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

/** @typedef {Record<string, number>} Numbers */
/** @typedef {<P extends keyof import('openapi').paths>(path: P, values: import('./api.js').Asked<P>, names: string[]) => ArrayLike<number>[] | null} LookUp */

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

/** @param {Answer} answer @param {LookUp} look @returns {More | undefined} */
function sinusoidal({ parameters: { layout, ...parameters }, tensors: all }, look) {
    const { d_model: width, base, freq_shift, scale, amplitude } = /** @type {Numbers} */ (parameters);
    if (freq_shift !== 0 || width % 2 !== 0 || all.size !== 1) return undefined;
    const times = amplitude === 1 ? [] : [brief(amplitude, 17), '·'];
    return ({ column }, position) => {
        if (position === undefined) return null;
        // Which function of which pair stands in the column.
        const half = width / 2;
        const mixed = layout === 'interleaved';
        const pair = mixed ? column >> 1 : column % half;
        const sine = mixed ? column % 2 === 0 : column < half === (layout === 'sin_cos');
        const name = sine ? 'sin' : 'cos';
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
    const values = texts(parameters, (name) => !NOT_FREQUENCIES.includes(name));
    return ({ column }, position) => {
        if (position === undefined) return null;
        const waves = waveOf(look, values, column);
        return { ...waves, formula: [...times, call(tensor, position, '·', waves.frequency ?? '…')] };
    };
}

/** Queries are the last of the positions of keys. @param {Numbers} parameters @param {number} query */
const placeOf = ({ query_length: queries, key_length: keys }, query) => keys - queries + query;

/** @param {Numbers} all @param {{row: number, column: number}} cell */
const distance = (all, { row: query, column: key }) => ({ 'key − query': digits(key - placeOf(all, query), 'int32') });

/** The published rule of ALiBi's slopes. @param {Answer} answer @returns {More} */
function slope({ parameters }) {
    const { num_heads: heads, alibi_bias_max: most, variant } = /** @type {Numbers} */ (parameters);
    const round = String(variant) === 'formula' ? heads : 2 ** Math.floor(Math.log2(heads));
    return ({ column: head }) => {
        const [over, under] = head < round ? [head + 1, round] : [2 * (head - round) + 1, 2 * round];
        return { formula: [sub('m', head), '=', power(2, row('−', most, '·', over, '/', under))] };
    };
}

/** @param {Answer} answer @param {LookUp} look @returns {More} */
function alibi({ parameters, tensors }, look) {
    const all = /** @type {Numbers} */ (parameters);
    const { num_heads, variant, alibi_bias_max, form, heads } = parameters;
    const count = tensors.values().next().value?.shape[0] ?? 1;
    const headOf = positionOf(heads, count) ?? Number;
    const values = { num_heads: `${num_heads}`, variant: `${variant}`, alibi_bias_max: `${alibi_bias_max}` };
    return (cell, _, slice, value) => {
        const found = look('/v1/alibi/slopes', { ...values, dtype: 'float64' }, ['data']);
        const head = headOf(slice);
        const m = found === null ? '…' : digits(found[0][head]);
        const apart = row('|', placeOf(all, cell.row), '−', cell.column, '|');
        const product = form === 'key' ? [m, '·', cell.column] : ['−', m, '·', apart];
        return {
            ...{ head, slope: m, ...(form === 'key' ? {} : distance(all, cell)) },
            formula: value === -Infinity ? 'masked: the key comes after the query' : product,
        };
    };
}

/** T5's rule: distances below a bound have buckets of their own, others share by their logarithm.
 * @param {Numbers} all @param {number} apart key − query */
function bucketOf({ num_buckets: buckets, max_distance: most, bidirectional }, apart) {
    const own = bidirectional ? buckets / 2 : buckets;
    const near = Math.floor(own / 2);
    const far = Math.abs(apart);
    if (apart > 0 && !bidirectional) return row('0');
    const shift = apart > 0 ? [own, '+'] : [];
    if (far < near) return row(...shift, far);
    const share = fraction(call('ln', far, '/', near), call('ln', most, '/', near));
    const step = row(near, '+', '⌊', share, '·', row('(', own, '−', near, ')'), '⌋');
    return row(...shift, call('min', own - 1, ',', step));
}

/** @param {Answer} answer @returns {More} */
function bucket({ parameters: { variant, ...parameters } }) {
    const all = /** @type {Numbers} */ (parameters);
    return (cell) => {
        const [query, key] = [placeOf(all, cell.row), cell.column];
        const both = variant === 'deberta' ? [query, '−', key] : [key, '−', query];
        const rule = variant === 't5' ? bucketOf(all, key - query) : call('bucket', ...both);
        return { ...distance(all, cell), formula: [rule] };
    };
}

/** @param {Answer} answer @returns {More} */
function clipped({ parameters }) {
    const all = /** @type {Numbers} */ (parameters);
    const { left_max: left, right_max: right } = all;
    return (cell) => {
        const clip = call('clip', cell.column, '−', placeOf(all, cell.row), ',', row('−', left), ',', right);
        return { ...distance(all, cell), formula: [clip, '+', left] };
    };
}

/** @param {Answer} answer @returns {More} */
function windowed({ parameters }) {
    const { window_height: height, window_width: width } = /** @type {Numbers} */ (parameters);
    return (cell) => {
        const [y, x] = [cell.row, cell.column].map((patch) => [Math.floor(patch / width), patch % width]);
        const down = row('(', y[0], '−', x[0], '+', height - 1, ')');
        const across = row('(', y[1], '−', x[1], '+', width - 1, ')');
        return {
            'query patch': `row ${y[0]}, column ${y[1]}`,
            'key patch': `row ${x[0]}, column ${x[1]}`,
            formula: [down, '·', 2 * width - 1, '+', across],
        };
    };
}

/** Frequencies and wavelengths of rotary pairs. @param {Answer} answer @param {LookUp} _ @param {string} tensor @returns {More | undefined} */
function frequency({ parameters }, _, tensor) {
    const { rotary_dim: width, rope_theta: base } = /** @type {Numbers} */ (parameters);
    if (parameters.rope_type !== 'default' || parameters.freq_factors !== undefined) return undefined;
    if (!['inv_freq', 'wavelength'].includes(tensor)) return undefined;
    return ({ column: pair }) => {
        const own = power(base, row('−', 2 * pair, '/', width));
        return { formula: [tensor === 'inv_freq' ? own : fraction(row(2, 'π'), own)] };
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
