// waves.js - sinusoidal encodings: the table, its binary clock, its wavelengths, and the rotation between positions.
import { arrays, tensors } from '../parts/api.js';
import { h } from '../parts/dom.js';
import { brief, clamp, spread } from '../parts/number.js';
import { positionOf } from '../parts/positions.js';
import { Room, opened } from '../parts/room.js';
import { plain } from '../parts/take.js';
import { cellOf } from '../parts/view.js';
import { Drift } from './drift.js';
import { Fan } from './fan.js';
import { Lamps, around } from './lamps.js';

const CONTROLS = ['d_model', 'base', 'positions', 'numerics'];
const FIRST_CELL = { row: 5, column: 10 };
const FAN_ROWS = 8;
const FAN_POINTS = 480;
const COLUMN_ELEMENTS = 1 << 17;

const LEAD =
    'How far the arithmetic of PyTorch’s reference code turns each pair away from the exact angle: the error grows with the position.';
const ODD = 'Wavelengths are those of pairs, and an odd d_model ends with a sine alone: choose an even one.';

const DRAG = 'Drag the waves to stretch them, or use the arrow keys.';

/** @type {[number, number]} */
const UNIT = [-1, 1];

class Waves extends Room {
    usual = { d_model: '64', from: '0' };
    controls = this.form(this.rows('sinusoidal', CONTROLS), (_, done) => (done ? { win: null } : null));
    picture = h('div.picture', { 'aria-busy': true });
    lamps = new Lamps();
    row = this.plot({ name: 'The row at the cursor', xName: 'dimension', height: 170, yRange: UNIT });
    column = this.plot({ name: 'The column at the cursor', xName: 'position', height: 170, yRange: UNIT });
    rowName = h('h3');
    columnName = h('h3');
    fan = this.own(new Fan((to, done) => this.set({ to: to === this.#fanDefault() ? null : to }, done)));
    drift = this.own(new Drift(this));
    growth = h('span', '…');
    table = this.asks(this.controls.fail, { busy: this.picture });
    cursor = this.asks();
    stretch = this.asks(this.fault.show);
    /** @private @type {import('../parts/safetensors.js').Answer | undefined} */ answer = undefined;

    notes = [['Some texts say that wavelengths fall with the dimension’s index. They grow: ', this.growth]];

    layout() {
        const source = () => plain('/v1/sinusoidal', this.#fanned().values);
        const from = this.control(['from position', 'number', DRAG], 'from', { to: null });
        return [
            this.split(
                [this.controls],
                this.section('table', 'The table', { first: true }, [
                    h('div.with-lamps', this.picture, this.lamps),
                    h('div.pair-of-pictures', [
                        h('div', this.rowName, this.row),
                        h('div', this.columnName, this.column),
                    ]),
                ]),
                this.drift.part(LEAD),
                this.section('fan', 'The fan of wavelengths', { source }, [from, this.fault, this.fan]),
            ),
        ];
    }

    /** The values that decide the frequencies. @returns {{d_model: string, base?: string}} */
    #width() {
        return { d_model: this.usual.d_model, ...this.chosen(['d_model', 'base']) };
    }

    load() {
        const values = { ...this.#width(), ...this.chosen(CONTROLS) };
        void this.table.ask(
            values,
            (signal) => tensors('/v1/sinusoidal', values, { signal }),
            (found) => {
                this.answer = found;
                if (cellOf(this.place.get('at')) === null)
                    this.place.set({ at: `${FIRST_CELL.row},${FIRST_CELL.column}` });
                this.draw(this.picture, found, { path: '/v1/sinusoidal', values, onCursor: () => this.#point() });
                this.#point();
            },
        );
        this.figure?.update();
        const far = this.place.get('numerics') === 'float32';
        this.drift.open(far && { path: '/v1/sinusoidal', values: this.#width(), waves: this.#ropeValues() });
        this.#point();
    }

    /** The cell of the cursor, and its position. */
    cell() {
        const tensor = this.answer?.tensors.values().next().value;
        if (tensor === undefined || this.answer === undefined) return null;
        const { row, column } = cellOf(this.place.get('at')) ?? FIRST_CELL;
        const at = { row: Math.min(row, tensor.rows - 1), column: Math.min(column, tensor.columns - 1) };
        const position = positionOf(this.answer.parameters.positions, tensor.rows) ?? Number;
        return { tensor, ...at, position };
    }

    /** All that follows the cursor. */
    #point() {
        const cell = this.cell();
        if (cell === null) return;
        const { tensor, row, column, position } = cell;
        const { rows, columns } = tensor;
        // Rows around the cursor, for the lamps, and a stretch of the column.
        const lamps = around(row, rows);
        const most = Math.min(rows, Math.floor(COLUMN_ELEMENTS / columns));
        const first = clamp(row - Math.floor(most / 2), 0, rows - most);
        void this.cursor.ask(
            [this.answer?.parameters, row, column],
            async (signal) => ({
                near: await tensor.read(lamps.first, lamps.count, signal),
                far: await tensor.read(first, most, signal),
            }),
            ({ near, far }) => {
                const positions = Array.from({ length: lamps.count }, (_, i) => position(lamps.first + i));
                this.lamps.show({ first: lamps.first, positions, columns, data: near }, row);
                const here = row - lamps.first;
                const y = far.filter((_, i) => i % columns === column);
                this.rowName.textContent = `Row: position ${brief(position(row))}`;
                const [start, end] = [position(first), position(first + y.length - 1)].map((at) => brief(at));
                const part = y.length < rows ? `, positions ${start} to ${end} alone` : '';
                this.columnName.textContent = `Column: dimension ${column}${part}`;
                this.row.show([{ name: 'row', y: near.slice(here * columns, (here + 1) * columns) }]);
                this.row.mark(column);
                this.column.show([{ name: 'column', y, x: Array.from(y, (_, i) => position(first + i)) }]);
                this.column.mark(row - first);
            },
        );
        this.#drawFan();
    }

    #fanDefault() {
        return this.place.number('from', 0) + 64;
    }

    /** The stretch of the fan, and what is asked for it. */
    #fanned() {
        const from = this.place.number('from', 0);
        const to = Math.max(from + 0.5, this.place.number('to', this.#fanDefault()));
        const step = Number(((to - from) / FAN_POINTS).toPrecision(4));
        const positions = `${from}:${Number((from + step * (FAN_POINTS + 0.5)).toPrecision(12))}:${step}`;
        return { from, to, step, values: { ...this.#width(), positions } };
    }

    #drawFan() {
        const cell = this.cell();
        const { from, to, step, values } = this.#fanned();
        this.fan.look({ from, to }, cell ? cell.position(cell.row) : NaN);
        void this.stretch.ask(
            values,
            async (signal) => {
                if (Number(values.d_model) % 2 === 1) throw new Error(ODD);
                return Promise.all([
                    arrays('/v1/sinusoidal', values, signal),
                    arrays('/v1/rope/frequencies', this.#ropeValues(), signal),
                ]);
            },
            ([{ data }, { wavelength }]) => {
                const columns = Number(values.d_model);
                const x = Array.from({ length: data.length / columns }, (_, i) => from + i * step);
                const rows = spread(Math.floor(columns / 2), FAN_ROWS).map((pair) => ({
                    pair,
                    wavelength: wavelength[pair],
                    y: data.filter((_, i) => i % columns === 2 * pair),
                }));
                this.fan.show({ x, rows });
                const last = wavelength.length - 1;
                this.growth.textContent = `${brief(wavelength[0])} positions for pair 0, ${brief(wavelength[last])} for pair ${last}.`;
            },
        );
    }

    /** The same frequencies as RoPE names them. */
    #ropeValues() {
        const { d_model, base = '10000' } = this.#width();
        return { head_dim: d_model, rope_theta: base, dtype: /** @type {const} */ ('float64') };
    }
}

export const show = opened(Waves, {
    title: 'Waves',
    words: [
        'Each column is a sine or a cosine of the position, and each pair of columns is slower than the one before it.',
        'Read along a row, the signs of the sines count like a binary clock: the first pair flips every three positions, the last one hardly ever.',
    ],
    papers: ['sinusoidal'],
    phrases: [
        ['The first wave turns once in six positions', { at: '6,0' }],
        ['wave 20 needs two thousand', { at: '64,40', to: '2000' }],
        ['a base of 100 makes all of them shorter than 600', { base: '100', at: '64,40', to: '2000' }],
        ['far away the table looks as full as here', { positions: '100000:100128' }],
    ],
    asked: [
        {
            question: 'd_model is 64. What stands at position 5, dimension 10?',
            of: ['/v1/sinusoidal', { d_model: '64', positions: '5', dtype: 'float64' }],
            at: 10,
        },
        {
            question: 'd_model is 128, the base 10000. How long is the longest wave?',
            unit: 'positions',
            of: ['/v1/rope/frequencies', { head_dim: '128', dtype: 'float64' }, 'wavelength'],
            at: -1,
        },
    ],
});
