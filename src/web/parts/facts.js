// facts.js - what a cell of a table is: its position, pair, frequency and formula. All numbers are the server's.
import { tensors } from './api.js';
import { call, formula, fraction, power, row } from './formula.js';
import { brief, digits } from './number.js';
import { positionOf } from './positions.js';
import { valueFacts } from './readout.js';

/** @typedef {import('./safetensors.js').Answer} Answer */
/** @typedef {import('./readout.js').Fact} Fact */
/** @typedef {{row: number, column: number}} Cell */
/**
 * @typedef {object} Meaning what rows and columns of a tensor are
 * @property {string} rowName
 * @property {((row: number) => number) | undefined} placed the position or offset of a row
 * @property {string} valueName
 * @property {string} columnName
 * @property {(row: number) => string} rowLabel
 * @property {(column: number) => string} columnLabel
 * @property {(cell: Cell, value: number | undefined) => Fact[]} facts
 */

/** @typedef {{frequency: Float64Array, wavelength: Float64Array}} Waves */

/** @type {Map<string, Waves | null>} */
const waves = new Map();

/** Frequencies and wavelengths of a rotation; null until they are there.
 * @param {Record<string, string>} values @param {() => void} arrived */
function wavesOf(values, arrived) {
    const key = JSON.stringify(values);
    const known = waves.get(key);
    if (known !== undefined) return known;
    waves.set(key, null);
    tensors('/v1/rope/frequencies', { ...values, dtype: 'float64' })
        .then(async (answer) => {
            const [frequency, wavelength] = await Promise.all(
                ['inv_freq', 'wavelength'].map(
                    async (name) => /** @type {Float64Array} */ (await answer.tensors.get(name)?.all()),
                ),
            );
            waves.set(key, { frequency, wavelength });
            arrived();
        })
        .catch(() => waves.delete(key));
    return null;
}

/** @param {Waves | null} all @param {number} pair @returns {Fact[]} */
function waveFacts(all, pair) {
    if (all === null) return [['pair', pair]];
    return [
        ['pair', pair],
        ['frequency', digits(all.frequency[pair], 'float64')],
        ['wavelength', `${digits(all.wavelength[pair], 'float64')} tokens`],
    ];
}

/** Which function of which pair stands in a column of a sinusoidal table. @param {number} column @param {number} width @param {unknown} layout */
function waveAt(column, width, layout) {
    if (layout === 'interleaved') return { pair: column >> 1, name: column % 2 === 0 ? 'sin' : 'cos' };
    const first = column < width / 2;
    return { pair: first ? column : column - width / 2, name: first === (layout === 'sin_cos') ? 'sin' : 'cos' };
}

/** @param {Answer} answer @param {() => void} arrived @returns {((cell: Cell, position: number, value: number | undefined, dtype: string) => Fact[]) | undefined} */
function sinusoidal({ parameters, tensors: all }, arrived) {
    const {
        d_model: width,
        base,
        layout,
        freq_shift: shift,
        scale,
    } = /** @type {Record<string, number>} */ (parameters);
    if (shift !== 0 || width % 2 !== 0 || all.size !== 1) return undefined;
    return ({ column }, position, value, dtype) => {
        const { pair, name } = waveAt(column, width, layout);
        const place = scale === 1 ? String(position) : row(position, '·', brief(scale, 17));
        const own = formula(
            call(name, fraction(place, power(String(base), row(2 * pair, '/', width)))),
            '=',
            value === undefined ? '…' : digits(value, dtype),
        );
        return [
            ...waveFacts(wavesOf({ head_dim: String(width), rope_theta: String(base) }, arrived), pair),
            ['formula', own],
        ];
    };
}

const NOT_FREQUENCIES = ['positions', 'numerics', 'cache_layout', 'pairing', 'dtype'];

/** @param {Answer} answer @param {() => void} arrived @param {string} tensor */
function rope({ parameters }, arrived, tensor) {
    if (!['cos', 'sin'].includes(tensor) || parameters.cache_layout !== 'pairs') return undefined;
    const values = Object.fromEntries(
        Object.entries(parameters)
            .filter(([name]) => !NOT_FREQUENCIES.includes(name))
            .map(([name, value]) => [name, String(value)]),
    );
    /** @type {(cell: Cell, position: number, value: number | undefined, dtype: string) => Fact[]} */
    return ({ column }, position, value, dtype) => {
        const all = wavesOf(values, arrived);
        const angle = all === null ? '…' : digits(all.frequency[column], 'float64');
        return [
            ...waveFacts(all, column),
            [
                'formula',
                formula(call(tensor, position, '·', angle), '=', value === undefined ? '…' : digits(value, dtype)),
            ],
        ];
    };
}

/** @typedef {(cell: Cell, position: number, value: number | undefined, dtype: string) => Fact[]} More */
/** What is known of the cells of one resource beside their value.
 * @type {Record<string, (answer: Answer, arrived: () => void, tensor: string) => More | undefined>} */
const KNOWN = { '/v1/sinusoidal': sinusoidal, '/v1/rope/table': rope };

/** @param {Record<string, unknown>} parameters @param {string} tensor */
function columnsOf(parameters, tensor) {
    if (parameters.key_length !== undefined || parameters.query_length !== undefined)
        return { rowName: 'query', columnName: 'key' };
    if (parameters.d_model !== undefined) return { rowName: 'row', columnName: 'dimension' };
    if (['cos', 'sin', 'inv_freq', 'wavelength', 'stretch'].includes(tensor))
        return { rowName: 'row', columnName: 'pair' };
    return { rowName: 'row', columnName: 'column' };
}

/**
 * What the cells of a tensor mean.
 * @param {string} path
 * @param {Answer} answer
 * @param {import('./safetensors.js').Tensor} tensor
 * @param {() => void} arrived facts that were asked for have come
 * @returns {Meaning}
 */
export function meaning(path, answer, tensor, arrived) {
    const rows = tensor.shape.length > 1 ? (tensor.shape.at(-2) ?? 1) : tensor.length;
    const { positions, offsets } = answer.parameters;
    const position = positionOf(positions ?? offsets, rows);
    const names = columnsOf(answer.parameters, tensor.name);
    const special = KNOWN[path]?.(answer, arrived, tensor.name);
    const rowName = position ? (positions === undefined ? 'offset' : 'position') : names.rowName;
    return {
        ...names,
        rowName,
        placed: position,
        valueName: tensor.name === 'data' ? (path.split('/').at(-1) ?? '') : tensor.name,
        rowLabel: (index) => (position ? brief(position(index), 15) : String(index)),
        columnLabel: String,
        facts: (cell, value) => [
            [rowName, position ? position(cell.row) : cell.row],
            [names.columnName, cell.column],
            ...valueFacts(value, tensor.dtype),
            ...(special && position ? special(cell, position(cell.row), value, tensor.dtype) : []),
        ],
    };
}
