// drift.js - how far 32 and 16 bits turn an angle away from the exact one, in radians.
//
// The tables are the server's. float32 is the arithmetic of PyTorch's reference path: the error is the angle between its
// point on the circle and the exact one. For bfloat16 and float16 the position, the served frequency and their product
// are each rounded to the type, as engines do whose angles have 16 bits.
import { arrays } from '../parts/api.js';
import { h, put } from '../parts/dom.js';
import { NEAREST, brief, digits } from '../parts/number.js';
import { Readout, valueFacts } from '../parts/readout.js';
import { Room } from '../parts/room.js';
import { matrixOf } from '../parts/safetensors.js';
import { Strips } from '../parts/strips.js';
import { plain } from '../parts/take.js';

/** @import { Numbers } from '../parts/safetensors.js' */

/** @typedef {'/v1/sinusoidal' | '/v1/rope/table'} Path */
/**
 * @typedef {object} Source
 * @property {Path} path
 * @property {import('../parts/api.js').Asked<Path>} values of the table, without positions
 * @property {import('../parts/api.js').Asked<'/v1/rope/frequencies'>} waves the same pairs
 */
/** @typedef {Awaited<ReturnType<typeof drifts>>} Drifts a row for each position */

const ROWS = 128;
const HALVES = ['bfloat16', 'float16'];
const TYPES = ['float32', ...HALVES];
const UP_TO = 2 ** 24;
const NOTE = [
    'float32: the angle between two points, that of PyTorch’s arithmetic (numerics=float32) and the exact one.',
    'bfloat16 and float16: the position, the frequency and their product are each rounded to the type.',
    'No number of float16 is above 65504: positions and angles beyond it are infinite.',
];

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

/** @param {Source} source @param {number} up @param {AbortSignal} signal */
async function drifts({ path, values, waves }, up, signal) {
    const step = Math.max(1, Math.ceil(up / ROWS));
    const positions = Array.from({ length: ROWS + 1 }, (_, i) => i * step);
    const asked = { ...values, positions: `0:${ROWS * step + 1}:${step}`, dtype: 'float64' };
    const table = /** @param {string} numerics */ async (numerics) =>
        points(await arrays(path, { ...asked, numerics }, signal));
    const both = await Promise.all(['exact', 'float32'].map(table));
    const found = await arrays('/v1/rope/frequencies', { ...waves, dtype: 'float64' }, signal);
    const { inv_freq: frequency, wavelength } = found;
    const halves = HALVES.map((dtype) => [dtype, drifted(positions, frequency, NEAREST[dtype])]);
    /** @type {Record<string, Float64Array>} */
    const errors = { float32: between(both), ...Object.fromEntries(halves) };
    return { positions, frequency, wavelength, exact: both[0].cos, rounded: both[1].cos, errors };
}

/** A part of a room. The address keeps up (the last position), angle (the type), ewin (the window) and eat (the cursor). */
export class Drift extends Room {
    usual = { up: '131072', angle: TYPES[0] };
    /** @private */ out = h('div.pair-of-pictures');
    ask = this.asks(this.fault.show, { busy: this.out });
    /** @private @type {Source | null} */ source = null;
    /** @private */ strips = this.own(new Strips(this.place, (cell) => this.#point(cell), { prefix: 'e' }));
    /** What is drawn of it, and the request that it answers. @private @type {{text: string, found: Drifts} | undefined} */
    held = undefined;
    curve = this.plot({
        name: 'Largest error of an angle at each position',
        ...{ xName: 'position', yName: 'largest error in radians', xLog: true, yLog: true, height: 340 },
    });
    /** @private */ readout = new Readout();
    said = h('p', { role: 'status' });
    note = h('p.note');
    element = h('div.drift', { hidden: true });

    /** The part of the room that it is, which is seen while it is open.
     * @param {string} lead @param {HTMLElement} [children] before the pictures */
    part(lead, children) {
        // The rounded table; without numerics its address is that of the exact one.
        const source = () => {
            if (this.source === null || this.held === undefined) return null;
            const { path, values } = this.source;
            const { positions } = this.held.found;
            const rows = { positions: `0:${(positions.at(-1) ?? 0) + 1}:${positions[1]}`, dtype: 'float64' };
            const name = path === '/v1/rope/table' ? 'cos' : undefined;
            return plain(path, { ...values, ...rows, numerics: 'float32' }, name);
        };
        const angle = this.control(['angles in', TYPES], 'angle');
        const up = this.control(['up to position', 'integer', '', '', ROWS, UP_TO], 'up');
        const part = this.section('error', 'Exact against float32', { lead, source }, children, [
            ...[h('div.row', angle, up), this.fault, this.said],
            ...[this.out, this.readout, this.note],
        ]);
        this.element.append(part);
        return this.element;
    }

    /** @param {Source | false} source false: nobody asks for it */
    open(source) {
        this.element.hidden = source === false;
        this.source = source || null;
        this.update();
    }

    /** @param {boolean} done */
    load(done) {
        const { source } = this;
        if (source === null || !done) return;
        const up = this.whole('up', ROWS, UP_TO);
        if (this.held === undefined) this.out.setAttribute('aria-busy', 'true');
        const text = JSON.stringify([source, up]);
        void this.ask.ask(
            [text, this.#angle],
            // The same numbers serve all three types.
            async (signal) => (this.held?.text === text ? this.held.found : drifts(source, up, signal)),
            (found) => {
                this.held = { text, found };
                this.#draw(found);
            },
        );
        this.strips.follow();
    }

    get #angle() {
        return TYPES.includes(this.get('angle')) ? this.get('angle') : TYPES[0];
    }

    /** @param {Drifts} found */
    #draw(found) {
        const { positions, errors } = found;
        const x = positions.slice(1);
        const worst = /** @param {string} type @param {number} row */ (type, row) => {
            const pairs = found.frequency.length;
            const own = errors[type].subarray(row * pairs, (row + 1) * pairs);
            return own.reduce((most, error) => Math.max(most, Math.abs(error)), 0);
        };
        this.curve.show(TYPES.map((name) => ({ name, x, y: x.map((_, i) => worst(name, i + 1)) })));
        this.strips.show([
            this.#map('Cosines, exact', found, found.exact),
            this.#map('Cosines, float32', found, found.rounded),
            this.#map(`Error of ${this.#angle} angles`, found, errors[this.#angle], 'error in radians'),
        ]);
        put(this.out, this.strips.tabled(), h('div', h('h3', 'Largest error at each position'), this.curve));
        const last = positions.length - 1;
        const ends = TYPES.map((name) => `${brief(worst(name, last))} rad with ${name} angles`);
        this.said.textContent = `At position ${brief(positions[last])} the most wrong pair is off by ${ends.join(', ')}. A whole turn is ${brief(2 * Math.PI)} rad.`;
        const rows = `The rows of the pictures are the positions 0, ${brief(positions[1])}, ${brief(positions[2])} and so on.`;
        this.note.textContent = [rows, ...NOTE].join(' ');
    }

    /** A picture of a number for each position and pair.
     * @param {string} name @param {Drifts} found @param {Numbers} data @param {string} [unit] */
    #map(name, { positions, frequency }, data, unit) {
        const rowLabel = /** @param {number} row */ (row) => brief(positions[row]);
        const matrix = matrixOf(name, data, frequency.length);
        return { matrix, name, unit, rowName: 'position', columnName: 'pair', rowLabel };
    }

    /** @param {import('../parts/heatmap.js').Cell} cell */
    #point({ row, column }) {
        if (this.held === undefined) return;
        const { positions, frequency, wavelength, exact, rounded, errors } = this.held.found;
        const at = row * frequency.length + column;
        if (!(at < exact.length && column < frequency.length)) return;
        const error = errors[this.#angle][at];
        this.readout.show([
            ['position', positions[row]],
            ['pair', column],
            ['frequency', digits(frequency[column])],
            ['wavelength', `${digits(wavelength[column])} tokens`],
            ...valueFacts(exact[at], 'float64', 'cosine, exact'),
            ...valueFacts(rounded[at], 'float64', 'cosine, float32'),
            ...valueFacts(error, 'float64', `error, ${this.#angle}`, ' rad'),
        ]);
    }
}
