// distances.js - what is known of a bias, a bucket or a frequency: where it stands, and the formula with its numbers.
// The result in each formula is the server's.
import { call, fraction, power, row, sub } from './formula.js';
import { digits } from './number.js';
import { positionOf } from './positions.js';

/** @import { More } from './facts.js' */
/** @import { Part } from './formula.js' */
/** @import { Answer } from './safetensors.js' */

/** @typedef {Record<string, number>} Numbers */
/** @typedef {<P extends keyof import('openapi').paths>(path: P, values: import('./api.js').Asked<P>, names: string[]) => ArrayLike<number>[] | null} LookUp */

/** Queries are the last of the positions of keys. @param {Numbers} parameters @param {number} query */
const placeOf = ({ query_length: queries, key_length: keys }, query) => keys - queries + query;

/** @param {Numbers} all @param {{row: number, column: number}} cell */
const distance = (all, { row: query, column: key }) => ({ 'key − query': digits(key - placeOf(all, query), 'int32') });

/** The published rule of ALiBi's slopes. @param {Answer} answer @returns {More} */
export function slope({ parameters }) {
    const { num_heads: heads, alibi_bias_max: most, variant } = /** @type {Numbers} */ (parameters);
    const round = String(variant) === 'formula' ? heads : 2 ** Math.floor(Math.log2(heads));
    return ({ column: head }) => {
        const [over, under] = head < round ? [head + 1, round] : [2 * (head - round) + 1, 2 * round];
        return { formula: [sub('m', head), '=', power(2, row('−', most, '·', over, '/', under))] };
    };
}

/** @param {Answer} answer @param {LookUp} look @returns {More} */
export function alibi({ parameters, tensors }, look) {
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
export function bucket({ parameters: { variant, ...parameters } }) {
    const all = /** @type {Numbers} */ (parameters);
    return (cell) => {
        const [query, key] = [placeOf(all, cell.row), cell.column];
        const both = variant === 'deberta' ? [query, '−', key] : [key, '−', query];
        const rule = variant === 't5' ? bucketOf(all, key - query) : call('bucket', ...both);
        return { ...distance(all, cell), formula: [rule] };
    };
}

/** @param {Answer} answer @returns {More} */
export function clipped({ parameters }) {
    const all = /** @type {Numbers} */ (parameters);
    const { left_max: left, right_max: right } = all;
    return (cell) => {
        const clip = call('clip', cell.column, '−', placeOf(all, cell.row), ',', row('−', left), ',', right);
        return { ...distance(all, cell), formula: [clip, '+', left] };
    };
}

/** @param {Answer} answer @returns {More} */
export function windowed({ parameters }) {
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
export function frequency({ parameters }, _, tensor) {
    const { rotary_dim: width, rope_theta: base } = /** @type {Numbers} */ (parameters);
    if (parameters.rope_type !== 'default' || parameters.freq_factors !== undefined) return undefined;
    if (!['inv_freq', 'wavelength'].includes(tensor)) return undefined;
    return ({ column: pair }) => {
        const own = power(base, row('−', 2 * pair, '/', width));
        return { formula: [tensor === 'inv_freq' ? own : fraction(row(2, 'π'), own)] };
    };
}
