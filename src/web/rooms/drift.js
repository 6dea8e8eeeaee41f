// drift.js - how far 32 and 16 bits turn an angle away from the exact one, in radians.
//
// Every table is the server's; the page takes the difference of two. float32 is the arithmetic of PyTorch's reference
// path: the error is the angle between its point on the circle and the exact one. For bfloat16 and float16 the server
// gives the rounded frequencies: the error is their difference from the exact ones, times the position.
import { answer, tensors } from '../parts/api.js';
import { control } from '../parts/controls.js';
import { Curve } from '../parts/curve.js';
import { h } from '../parts/dom.js';
import { Heatmap } from '../parts/heatmap.js';
import { Latest, complaint, numbers } from '../parts/latest.js';
import { brief, digits } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { plain } from '../parts/take.js';

/** @typedef {import('../parts/safetensors.js').Answer} Answer */
/** @typedef {import('../parts/place.js').Place} Place */
/**
 * @typedef {object} Source
 * @property {'/v1/sinusoidal' | '/v1/rope/table'} path
 * @property {Record<string, string>} values of the table, without positions
 * @property {Record<string, string>} waves what GET /v1/rope/frequencies takes for the same pairs
 */
/** @typedef {{pairs: number, positions: number[], errors: Record<string, Float64Array>, words: string[]}} Drifts */

const ROWS = 128;
/** Types of 16 bits, and their largest numbers. @type {[string, number][]} */
const HALVES = [
    ['bfloat16', 3.3895e38],
    ['float16', 65504],
];
const TYPES = ['float32', ...HALVES.map(([name]) => name)];
const UP_TO = 131072;

/** Cosines and sines of a table, row by row. @param {Answer} found @param {AbortSignal} signal */
async function points(found, signal) {
    if (found.tensors.has('cos'))
        return { cos: await numbers(found, 'cos', signal), sin: await numbers(found, 'sin', signal) };
    const all = await numbers(found, undefined, signal);
    return { cos: all.filter((_, i) => i % 2 === 1), sin: all.filter((_, i) => i % 2 === 0) };
}

/** @param {Source} source @param {string} positions @param {AbortSignal} signal */
async function turned({ path, values }, positions, signal) {
    const [exact, rounded] = await Promise.all(
        ['exact', 'float32'].map(async (numerics) =>
            points(await answer(path, { ...values, positions, dtype: 'float64', numerics }, { signal }), signal),
        ),
    );
    return Float64Array.from(exact.cos, (c, i) => {
        const [s, x, y] = [exact.sin[i], rounded.cos[i], rounded.sin[i]];
        return Math.atan2(c * y - s * x, c * x + s * y);
    });
}

/** @param {Record<string, string>} waves @param {string} dtype @param {AbortSignal} signal */
const frequencies = (waves, dtype, signal) => tensors('/v1/rope/frequencies', { ...waves, dtype }, { signal });

/** The positions times what rounding changes of the frequencies.
 * @param {number[]} positions @param {ArrayLike<number>} rounded @param {ArrayLike<number>} exact */
const drifted = (positions, rounded, exact) =>
    Float64Array.from(
        { length: positions.length * exact.length },
        (_, i) => positions[Math.floor(i / exact.length)] * (rounded[i % exact.length] - exact[i % exact.length]),
    );

/** @param {Source} source @param {number} up @param {AbortSignal} signal @returns {Promise<Drifts>} */
async function drifts(source, up, signal) {
    const step = Math.max(1, Math.ceil(up / ROWS));
    const positions = Array.from({ length: ROWS + 1 }, (_, i) => i * step);
    const [float32, waves] = await Promise.all([
        turned(source, `0:${ROWS * step + 1}:${step}`, signal),
        frequencies(source.waves, 'float64', signal),
    ]);
    const [exact, lengths] = await Promise.all([
        numbers(waves, 'inv_freq', signal),
        numbers(waves, 'wavelength', signal),
    ]);
    /** @type {Drifts} */
    const found = { pairs: exact.length, positions, errors: { float32 }, words: [] };
    for (const [dtype, most] of HALVES) {
        // The answer has the wavelengths, too, and is refused where the longest is no number of the type.
        const long = lengths.findIndex((length) => length > most);
        if (long >= 0) {
            found.words.push(`${dtype} cannot hold the wavelength of pair ${long}: its largest number is ${most}.`);
            continue;
        }
        const rounded = await numbers(await frequencies(source.waves, dtype, signal), 'inv_freq', signal);
        found.errors[dtype] = drifted(positions, rounded, exact);
    }
    return found;
}

export class Drift {
    /** @param {Place} place keeps up (the last position) and angle (the type) */
    constructor(place) {
        this.place = place;
        this.error = complaint();
        /** @private */ this.latest = new Latest(this.error.show);
        /** @private @type {Source | null} */ this.source = null;
        /** @private @type {{stop: () => void}[]} */ this.parts = [];
        /** @private @type {{text: string, found: Drifts} | undefined} */ this.held = undefined;
        /** @private */ this.out = h('div', { class: 'pair-of-pictures', 'aria-busy': true });
        /** @private */ this.readout = new Readout();
        const set = /** @param {string} name @param {string} fallback */ (name, fallback) =>
            /** @type {import('../parts/controls.js').Change} */ (
                (value, done) => {
                    place.set({ [name]: value === fallback ? null : value }, { step: done });
                    if (done && this.source) void this.show(this.source);
                }
            );
        this.up = control(
            {
                name: 'up to position',
                type: 'integer',
                required: false,
                minimum: 128,
                maximum: 2 ** 24,
                description: '',
            },
            set('up', String(UP_TO)),
        );
        this.angle = control(
            { name: 'angles in', type: 'string', required: false, choices: TYPES, description: '' },
            set('angle', TYPES[0]),
        );
        this.said = h('p', { role: 'status' });
        this.note = h('p', { class: 'note' });
        this.element = h(
            'div',
            { class: 'drift' },
            h('div', { class: 'row' }, this.angle.element, this.up.element),
            this.error.element,
            this.said,
            this.out,
            this.readout.element,
            this.note,
        );
    }

    /** @param {Source} source */
    async show(source) {
        this.source = source;
        const up = Math.min(2 ** 24, Math.max(ROWS, Math.round(this.place.number('up', UP_TO))));
        const angle = this.place.get('angle', TYPES[0]);
        this.up.show(String(up));
        this.angle.show(angle);
        const key = [source, up];
        await this.latest.ask(
            [key, angle],
            (signal) => this.ask(key, source, up, signal),
            (found) => this.draw(found, angle),
        );
        this.out.removeAttribute('aria-busy');
    }

    /** The same numbers serve all three types. @private
     * @param {unknown} key @param {Source} source @param {number} up @param {AbortSignal} signal */
    async ask(key, source, up, signal) {
        const text = JSON.stringify(key);
        if (this.held?.text !== text) this.held = { text, found: await drifts(source, up, signal) };
        return this.held.found;
    }

    /** @private @param {Drifts} found @param {string} angle */
    draw(found, angle) {
        this.stop();
        const { positions, pairs, words } = found;
        const shown = found.errors[angle] ?? found.errors.float32;
        const map = new Heatmap({
            matrix: {
                name: 'error',
                dtype: 'float64',
                rows: positions.length,
                columns: pairs,
                read: (first, count) => Promise.resolve(shown.slice(first * pairs, (first + count) * pairs)),
            },
            name: `Error of the angle in radians, ${angle}`,
            unit: 'error in radians',
            rowName: 'position',
            columnName: 'pair',
            rowLabel: (row) => brief(positions[row]),
            onCursor: (cell, value) =>
                this.readout.show([
                    ['position', brief(positions[cell.row])],
                    ['pair', cell.column],
                    ['error', value === undefined ? '…' : `${digits(Number(value.toPrecision(6)), 'float64')} rad`],
                ]),
        });
        const names = TYPES.filter((name) => name in found.errors);
        const curve = new Curve({
            name: 'Largest error of an angle at each position',
            xName: 'position',
            yName: 'largest error in radians',
            xLog: true,
            yLog: true,
            height: 340,
        });
        curve.show(
            names.map((name) => ({
                name,
                x: positions.slice(1),
                y: positions.slice(1).map((_, i) => largest(found.errors[name], i + 1, pairs)),
            })),
        );
        this.parts = [map, curve];
        this.out.replaceChildren(map.element, curve.element);
        const last = positions.length - 1;
        const ends = names.map((name) => `${brief(largest(found.errors[name], last, pairs))} rad with ${name} angles`);
        this.said.textContent = `At position ${brief(positions[last])} the most wrong pair is off by ${ends.join(', ')}. A whole turn is ${brief(2 * Math.PI)} rad.`;
        this.note.textContent = [
            'Each error is the difference of two tables that this server has made.',
            'float32: the angle between the two points, PyTorch’s arithmetic (numerics=float32) and exact.',
            'bfloat16 and float16: the position times what rounding the frequency changes; this service rounds no position and no product to 16 bits, as some engines do, which adds to it.',
            ...words,
        ].join(' ');
    }

    /** The rounded table; without numerics its address is that of the exact one. */
    along() {
        if (this.source === null || this.held === undefined) return null;
        const { path, values } = this.source;
        const { positions } = this.held.found;
        const rows = { positions: `0:${(positions.at(-1) ?? 0) + 1}:${positions[1]}`, dtype: 'float64' };
        const name = path === '/v1/rope/table' ? 'cos' : undefined;
        return plain(path, { ...values, ...rows, numerics: 'float32' }, name);
    }

    stop() {
        for (const part of this.parts) part.stop();
        this.parts = [];
    }

    end() {
        this.latest.stop();
        this.stop();
    }
}

/** @param {Float64Array} errors @param {number} row @param {number} pairs */
function largest(errors, row, pairs) {
    let most = 0;
    for (let i = row * pairs; i < (row + 1) * pairs; i++) most = Math.max(most, Math.abs(errors[i]));
    return most;
}
