// drift.js - how far 32 and 16 bits turn an angle away from the exact one, in radians.
//
// The tables are the server's. float32 is the arithmetic of PyTorch's reference path: the error is the angle between its
// point on the circle and the exact one. For bfloat16 and float16 the position, the served frequency and their product
// are each rounded to the type, as engines do whose angles have 16 bits.
import { arrays } from '../parts/api.js';
import { choice, control } from '../parts/controls.js';
import { Curve } from '../parts/curve.js';
import { h } from '../parts/dom.js';
import { Heatmap } from '../parts/heatmap.js';
import { Latest, complaint, section } from '../parts/latest.js';
import { NEAREST, brief, digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { matrixOf } from '../parts/safetensors.js';
import { table } from '../parts/table.js';
import { plain } from '../parts/take.js';
import { cellOf, kept } from '../parts/view.js';

/** @import { Numbers } from '../parts/safetensors.js' */

/** @typedef {'/v1/sinusoidal' | '/v1/rope/table'} Path */
/**
 * @typedef {object} Source
 * @property {Path} path
 * @property {import('../parts/api.js').Asked<Path>} values of the table, without positions
 * @property {import('../parts/api.js').Asked<'/v1/rope/frequencies'>} waves the same pairs
 */
/**
 * @typedef {object} Drifts
 * @property {number[]} positions one for each row
 * @property {ArrayLike<number>} frequency of each pair
 * @property {ArrayLike<number>} wavelength
 * @property {Numbers} exact cosines, row by row
 * @property {Numbers} rounded what float32 makes of them
 * @property {Record<string, Float64Array>} errors in radians, by type
 */

const ROWS = 128;
const HALVES = ['bfloat16', 'float16'];
const TYPES = ['float32', ...HALVES];
const UP_TO = 131072;

/** Cosines and sines of a table, row by row. @param {Record<string, Numbers>} found */
function points({ cos, sin, data }) {
    if (data === undefined) return { cos, sin };
    return { cos: data.filter((_, i) => i % 2 === 1), sin: data.filter((_, i) => i % 2 === 0) };
}

/** The angles from exact points to rounded ones. @param {Record<string, Numbers>[]} both */
export const between = ([exact, rounded]) =>
    Float64Array.from(exact.cos, (c, i) => {
        const [s, x, y] = [exact.sin[i], rounded.cos[i], rounded.sin[i]];
        return Math.atan2(c * y - s * x, c * x + s * y);
    });

/** What rounding the position, the frequency and the angle changes.
 * @param {number[]} positions @param {ArrayLike<number>} frequency @param {(value: number) => number} round */
const drifted = (positions, frequency, round) =>
    Float64Array.from({ length: positions.length * frequency.length }, (_, i) => {
        const [m, f] = [positions[Math.floor(i / frequency.length)], frequency[i % frequency.length]];
        return round(round(m) * round(f)) - m * f;
    });

/** @param {Source} source @param {number} up @param {AbortSignal} signal @returns {Promise<Drifts>} */
async function drifts({ path, values, waves }, up, signal) {
    const step = Math.max(1, Math.ceil(up / ROWS));
    const positions = Array.from({ length: ROWS + 1 }, (_, i) => i * step);
    const asked = { ...values, positions: `0:${ROWS * step + 1}:${step}`, dtype: 'float64' };
    const [both, found] = await Promise.all([
        Promise.all(
            ['exact', 'float32'].map(async (numerics) => points(await arrays(path, { ...asked, numerics }, signal))),
        ),
        arrays('/v1/rope/frequencies', { ...waves, dtype: 'float64' }, signal),
    ]);
    const { inv_freq: frequency, wavelength } = found;
    const halves = HALVES.map((dtype) => [dtype, drifted(positions, frequency, NEAREST[dtype])]);
    return {
        positions,
        frequency,
        wavelength,
        exact: both[0].cos,
        rounded: both[1].cos,
        errors: { float32: between(both), ...Object.fromEntries(halves) },
    };
}

export class Drift {
    /** @param {import('../parts/place.js').Place} place keeps up (the last position), angle (the type), ewin (the window) and eat (the cursor) */
    constructor(place) {
        this.place = place;
        this.error = complaint();
        /** @private */ this.latest = new Latest(this.error.show);
        /** @private @type {Source | null} */ this.source = null;
        /** @private @type {Heatmap[]} */ this.maps = [];
        /** @private @type {ReturnType<typeof table>[]} */ this.tables = [];
        /** @private @type {Curve | undefined} */ this.curve = undefined;
        /** What is drawn. @private */ this.seen = { found: /** @type {Drifts} */ ({}), angle: '' };
        /** @private @type {{text: string, found: Drifts} | undefined} */ this.held = undefined;
        /** @private */ this.out = h('div.pair-of-pictures');
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
        this.angle = choice('angles in', TYPES, set('angle', TYPES[0]));
        this.said = h('p', { role: 'status' });
        this.note = h('p.note');
        this.element = h('div.drift', [
            h('div.row', this.angle.element, this.up.element),
            this.error.element,
            this.said,
            this.out,
            this.readout.element,
            this.note,
        ]);
    }

    /** The part of the room that it is, which is seen while it is open.
     * @param {string} lead @param {HTMLElement} [children] before the pictures */
    part(lead, children) {
        const source = () => this.along();
        const what = { name: 'error', title: 'Exact against float32', lead, source };
        this.whole = h('div', { hidden: true }, section(this.place, what, children, this.element));
        return this.whole;
    }

    /** @param {Source | false} source false: nobody asks for it */
    open(source) {
        if (this.whole) this.whole.hidden = source === false;
        if (source) void this.show(source);
    }

    /** @param {Source} source */
    async show(source) {
        this.source = source;
        const up = Math.min(2 ** 24, Math.max(ROWS, Math.round(this.place.number('up', UP_TO))));
        const angle = this.place.get('angle', TYPES[0]);
        this.up.show(String(up));
        this.angle.show(angle);
        if (this.maps.length === 0) this.out.setAttribute('aria-busy', 'true');
        const key = [source, up];
        await this.latest.ask(
            [key, angle],
            (signal) => this.#ask(key, source, up, signal),
            (found) => this.#draw(found, angle),
        );
        this.#follow();
        this.out.removeAttribute('aria-busy');
    }

    /** The same numbers serve all three types.
     * @param {unknown} key @param {Source} source @param {number} up @param {AbortSignal} signal */
    async #ask(key, source, up, signal) {
        const text = JSON.stringify(key);
        if (this.held?.text !== text) this.held = { text, found: await drifts(source, up, signal) };
        return this.held.found;
    }

    /** @param {Drifts} found @param {string} angle */
    #draw(found, angle) {
        this.#clear();
        this.seen = { found, angle: angle in found.errors ? angle : TYPES[0] };
        const curve = new Curve({
            name: 'Largest error of an angle at each position',
            xName: 'position',
            yName: 'largest error in radians',
            xLog: true,
            yLog: true,
            height: 340,
        });
        const { positions, errors } = found;
        curve.show(
            TYPES.map((name) => ({
                name,
                x: positions.slice(1),
                y: positions.slice(1).map((_, i) => largest(errors[name], i + 1, positions.length)),
            })),
        );
        const { angle: type } = this.seen;
        this.maps = [
            this.#map('Cosines, exact', found.exact),
            this.#map('Cosines, float32', found.rounded),
            this.#map(`Error of ${type} angles`, errors[type], 'error in radians'),
        ];
        this.curve = curve;
        this.tables = this.maps.map((map) =>
            table(() => ({
                matrix: map.matrix,
                window: map.window,
                rowLabel: (row) => brief(positions[row]),
                columnLabel: String,
                caption: map.options.name,
            })),
        );
        this.out.replaceChildren(
            ...this.maps.map(({ element, options }, i) =>
                h('div', h('h3', options.name), element, h('div.panels', this.tables[i].element)),
            ),
            h('div', h('h3', 'Largest error at each position'), curve.element),
        );
        this.#say(found);
        this.#follow();
    }

    /** A picture of a number for each position and pair; all of them have one window and one cursor.
     * @param {string} name @param {Numbers} data @param {string} [unit] */
    #map(name, data, unit) {
        const { positions, frequency } = this.seen.found;
        const matrix = matrixOf(name, data, frequency.length);
        return new Heatmap({
            matrix,
            name,
            unit,
            rowName: 'position',
            columnName: 'pair',
            rowLabel: (row) => brief(positions[row]),
            onCursor: (cell, _, done) => {
                this.#point(cell);
                if (done) this.#keep({ eat: `${cell.row},${cell.column}` });
            },
            onView: (window) => this.#keep({ ewin: kept(window, matrix) }),
        });
    }

    /** @param {Record<string, string | null>} changes */
    #keep(changes) {
        this.place.set(changes);
        this.#follow();
    }

    /** Show the window and the cursor that the address says. */
    #follow() {
        const cell = cellOf(this.place.get('eat'));
        for (const map of this.maps) map.show(this.place.get('ewin'), cell);
        if (cell !== null) this.#point(cell);
        for (const each of this.tables) each.refresh();
    }

    /** @param {import('../parts/heatmap.js').Cell} cell */
    #point({ row, column }) {
        const { found, angle } = this.seen;
        const { positions, frequency, wavelength, exact, rounded, errors } = found;
        const at = row * frequency.length + column;
        if (!(at < exact.length && column < frequency.length)) return;
        this.readout.show([
            ['position', positions[row]],
            ['pair', column],
            ['frequency', digits(frequency[column], 'float64')],
            ['wavelength', `${digits(wavelength[column], 'float64')} tokens`],
            ['cosine, exact', digits(exact[at], 'float64')],
            ['bits', hex(exact[at], 'float64')],
            ['cosine, float32', digits(rounded[at], 'float64')],
            ['bits', hex(rounded[at], 'float64')],
            [`error, ${angle}`, `${digits(errors[angle][at], 'float64')} rad`],
            ['bits', hex(errors[angle][at], 'float64')],
        ]);
    }

    /** @param {Drifts} found */
    #say({ positions, errors }) {
        const last = positions.length - 1;
        const ends = TYPES.map(
            (name) => `${brief(largest(errors[name], last, positions.length))} rad with ${name} angles`,
        );
        this.said.textContent = `At position ${brief(positions[last])} the most wrong pair is off by ${ends.join(', ')}. A whole turn is ${brief(2 * Math.PI)} rad.`;
        this.note.textContent = [
            `The rows of the pictures are the positions 0, ${brief(positions[1])}, ${brief(positions[2])} and so on.`,
            'float32: the angle between two points, that of PyTorch’s arithmetic (numerics=float32) and the exact one.',
            'bfloat16 and float16: the position, the frequency and their product are each rounded to the type.',
            'No number of float16 is above 65504: positions and angles beyond it are infinite.',
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

    #clear() {
        for (const part of [...this.maps, this.curve]) part?.stop();
    }

    stop() {
        this.latest.stop();
        this.#clear();
    }
}

/** @param {Float64Array} errors @param {number} row @param {number} rows */
function largest(errors, row, rows) {
    const pairs = errors.length / rows;
    return errors.subarray(row * pairs, (row + 1) * pairs).reduce((most, error) => Math.max(most, Math.abs(error)), 0);
}
