// waves.js - sinusoidal encodings: the table, its binary clock, its wavelengths, and the rotation between positions.
import { address, tensors } from '../parts/api.js';
import { control, form } from '../parts/controls.js';
import { Curve } from '../parts/curve.js';
import { h } from '../parts/dom.js';
import { Figure } from '../parts/figure.js';
import { Latest, complaint, numbers, section, split } from '../parts/latest.js';
import { find } from '../parts/listing.js';
import { brief } from '../parts/number.js';
import { positionOf } from '../parts/positions.js';
import { exercises, note, story } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { cellOf } from '../parts/view.js';
import { Drift } from './drift.js';
import { Fan } from './fan.js';
import { Lamps, around } from './lamps.js';
import { spread } from './landing.js';

/** @typedef {import('./rooms.js').Context} Context */

const CONTROLS = ['d_model', 'base', 'positions', 'numerics'];
const FIRST_CELL = { row: 5, column: 10 };
const FAN_ROWS = 8;
const FAN_POINTS = 480;
const COLUMN_ELEMENTS = 1 << 17;

const ODD = 'Wavelengths are those of pairs, and an odd d_model ends with a sine alone: choose an even one.';

const WORDS = [
    'Each column is a sine or a cosine of the position, and each pair of columns is slower than the one before it.',
    'Read along a row, the signs of the sines count like a binary clock: the first pair flips every three positions, the last one hardly ever.',
];

class Waves {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, context) {
        this.context = context;
        this.place = context.place;
        const resource = find(context.listing, 'sinusoidal');
        const rows = (resource?.parameters ?? []).filter(({ name }) => CONTROLS.includes(name));
        this.controls = form(rows, (name, value, done) => {
            this.place.set({ [name]: value, ...(done ? { win: null } : {}) }, { step: done });
            this.update();
        });
        /** @private @type {Figure | null} */ this.figure = null;
        this.picture = h('div', { class: 'picture', 'aria-busy': true });
        this.lamps = new Lamps();
        this.row = new Curve({ name: 'The row at the cursor', xName: 'dimension', height: 170, yRange: [-1, 1] });
        this.column = new Curve({ name: 'The column at the cursor', xName: 'position', height: 170, yRange: [-1, 1] });
        this.rowName = h('h3');
        this.columnName = h('h3');
        this.fan = new Fan((to, done) => {
            this.place.set({ to: to === this.fanDefault() ? null : to }, { step: done });
            this.drawFan();
        });
        this.drift = new Drift(this.place);
        this.driftSection = h(
            'div',
            {},
            section(
                this.place,
                {
                    name: 'error',
                    title: 'Exact against float32',
                    lead: 'How far the arithmetic of PyTorch’s reference code turns each pair away from the exact angle: the error grows with the position.',
                    source: () => this.drift.along(),
                },
                this.drift.element,
            ),
        );
        this.growth = h('span', {}, '…');
        this.asks = {
            table: new Latest((error) => (error === null ? this.controls.fail(null) : this.refuse(error))),
            cursor: new Latest(context.fail),
            fan: new Latest((error) => error && this.fanFault.show(error)),
        };
        this.fanFault = complaint();
        this.fanFrom = this.fromControl();
        host.replaceChildren(...this.layout());
        this.update();
    }

    /** @private */
    fromControl() {
        return control(
            {
                name: 'from position',
                type: 'number',
                required: false,
                description: 'Drag the waves to stretch them, or use the arrow keys.',
            },
            (value, done) => {
                this.place.set({ from: value === '0' || value === '' ? null : value, to: null }, { step: done });
                this.drawFan();
            },
        );
    }

    /** @private */
    layout() {
        const { place, context } = this;
        const resource = find(context.listing, 'sinusoidal');
        const column = /** @param {HTMLElement} name @param {Curve} curve */ (name, curve) =>
            h('div', {}, name, curve.element);
        return [
            story('Waves', WORDS, [resource]),
            split(
                [this.controls.element],
                section(
                    place,
                    { name: 'table', title: 'The table', first: true },
                    h('div', { class: 'with-lamps' }, this.picture, this.lamps.element),
                    h(
                        'div',
                        { class: 'pair-of-pictures' },
                        column(this.rowName, this.row),
                        column(this.columnName, this.column),
                    ),
                ),
                this.driftSection,
                section(
                    place,
                    {
                        name: 'fan',
                        title: 'The fan of wavelengths',
                        source: () => plain('/v1/sinusoidal', this.fanned().values),
                    },
                    this.fanFrom.element,
                    this.fanFault.element,
                    this.fan.element,
                ),
            ),
            this.words(),
        ];
    }

    /** @private */
    words() {
        return exercises(
            [
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
            note('Some texts say that wavelengths fall with the dimension’s index. They grow: ', this.growth),
        );
    }

    /** @private @param {unknown} error */
    refuse(error) {
        this.controls.fail(error);
        this.picture.removeAttribute('aria-busy');
    }

    /** What the address says of the table. @private */
    values() {
        const chosen = CONTROLS.map((name) => [name, this.place.get(name)]).filter(([, value]) => value !== '');
        return { d_model: '64', ...Object.fromEntries(chosen) };
    }

    /** The values that decide the frequencies. @private @returns {{d_model: string, base?: string}} */
    width() {
        const { d_model, base } = /** @type {Record<string, string>} */ (this.values());
        return base === undefined ? { d_model } : { d_model, base };
    }

    update() {
        const values = this.values();
        this.controls.show(values);
        void this.asks.table.ask(
            values,
            (signal) => tensors('/v1/sinusoidal', values, { signal }),
            (found) => this.show(found, values),
        );
        this.figure?.update();
        const far = this.place.get('numerics') === 'float32';
        this.driftSection.hidden = !far;
        if (far) this.showDrift();
        this.point();
    }

    /** @private */
    showDrift() {
        const { d_model, base } = this.width();
        void this.drift.show({
            path: '/v1/sinusoidal',
            values: this.width(),
            waves: { head_dim: d_model, ...(base === undefined ? {} : { rope_theta: base }) },
        });
    }

    /** @private @param {import('../parts/safetensors.js').Answer} found @param {Record<string, string>} values */
    show(found, values) {
        this.figure?.stop();
        this.answer = found;
        if (cellOf(this.place.get('at')) === null) this.place.set({ at: `${FIRST_CELL.row},${FIRST_CELL.column}` });
        this.figure = new Figure(found, {
            path: '/v1/sinusoidal',
            values,
            title: address('/v1/sinusoidal', values),
            place: this.place,
            onError: this.context.fail,
            before: this.figure,
            onCursor: () => this.point(),
        });
        this.picture.replaceChildren(this.figure.element);
        this.picture.removeAttribute('aria-busy');
        this.point();
    }

    /** The cell of the cursor, and its position. @private */
    cell() {
        const tensor = this.answer?.tensors.values().next().value;
        if (tensor === undefined || this.answer === undefined) return null;
        const { row, column } = cellOf(this.place.get('at')) ?? FIRST_CELL;
        const at = { row: Math.min(row, tensor.rows - 1), column: Math.min(column, tensor.columns - 1) };
        const position = positionOf(this.answer.parameters.positions, tensor.rows) ?? Number;
        return { tensor, ...at, position };
    }

    /** All that follows the cursor. @private */
    point() {
        const cell = this.cell();
        if (cell === null) return;
        void this.asks.cursor.ask(
            [this.values(), cell.row, cell.column],
            (signal) => this.beside(cell, signal),
            (found) => this.drawBeside(cell, found),
        );
        this.drawFan();
    }

    /** Rows around the cursor, for the lamps, and a stretch of the column.
     * @private @param {NonNullable<ReturnType<Waves['cell']>>} cell @param {AbortSignal} signal */
    async beside({ tensor, row }, signal) {
        const lamps = around(row, tensor.rows);
        const most = Math.min(tensor.rows, Math.floor(COLUMN_ELEMENTS / tensor.columns));
        const first = Math.max(0, Math.min(row - Math.floor(most / 2), tensor.rows - most));
        const [near, far] = await Promise.all([
            tensor.read(lamps.first, lamps.count, signal),
            tensor.read(first, most, signal),
        ]);
        return { lamps, near, first, far };
    }

    /** @private @param {NonNullable<ReturnType<Waves['cell']>>} cell @param {Awaited<ReturnType<Waves['beside']>>} found */
    drawBeside({ tensor, row, column, position }, { lamps, near, first, far }) {
        const { columns } = tensor;
        this.lamps.show(
            {
                first: lamps.first,
                positions: Array.from({ length: lamps.count }, (_, i) => position(lamps.first + i)),
                columns,
                data: near,
            },
            row,
        );
        const here = row - lamps.first;
        const y = far.filter((_, i) => i % columns === column);
        this.rowName.textContent = `Row: position ${brief(position(row))}`;
        const [start, end] = [position(first), position(first + y.length - 1)].map((at) => brief(at));
        const part = y.length < tensor.rows ? `, positions ${start} to ${end} alone` : '';
        this.columnName.textContent = `Column: dimension ${column}${part}`;
        this.row.show([{ name: 'row', y: near.slice(here * columns, (here + 1) * columns) }]);
        this.row.mark(column);
        this.column.show([{ name: 'column', y, x: Array.from(y, (_, i) => position(first + i)) }]);
        this.column.mark(row - first);
    }

    /** @private */
    fanDefault() {
        return this.place.number('from', 0) + 64;
    }

    /** The stretch of the fan, and what is asked for it. @private */
    fanned() {
        const from = this.place.number('from', 0);
        const to = Math.max(from + 0.5, this.place.number('to', this.fanDefault()));
        const step = Number(((to - from) / FAN_POINTS).toPrecision(4));
        const positions = `${from}:${Number((from + step * (FAN_POINTS + 0.5)).toPrecision(12))}:${step}`;
        return { from, to, step, values: { ...this.width(), positions } };
    }

    /** @private */
    drawFan() {
        const cell = this.cell();
        const { from, to, step, values } = this.fanned();
        this.fanFrom.show(String(from));
        this.fan.look({ from, to }, cell ? cell.position(cell.row) : NaN);
        void this.asks.fan.ask(
            values,
            (signal) => this.askFan(values, signal),
            (found) => {
                this.fanFault.show(null);
                const x = Array.from({ length: found.data.length / found.columns }, (_, i) => from + i * step);
                this.fan.show({
                    x,
                    rows: spread(Math.floor(found.columns / 2), FAN_ROWS).map((pair) => ({
                        pair,
                        wavelength: found.wavelength[pair],
                        y: found.data.filter((_, i) => i % found.columns === 2 * pair),
                    })),
                });
                const { wavelength } = found;
                const last = wavelength.length - 1;
                this.growth.textContent = `${brief(wavelength[0])} positions for pair 0, ${brief(wavelength[last])} for pair ${last}.`;
            },
        );
    }

    /** @private @param {{d_model: string, base?: string, positions: string}} values @param {AbortSignal} signal */
    async askFan(values, signal) {
        if (Number(values.d_model) % 2 === 1) throw new Error(ODD);
        const [table, waves] = await Promise.all([
            tensors('/v1/sinusoidal', values, { signal }),
            tensors('/v1/rope/frequencies', this.ropeValues(), { signal }),
        ]);
        return {
            data: await numbers(table, undefined, signal),
            columns: table.tensors.values().next().value?.columns ?? 1,
            wavelength: await numbers(waves, 'wavelength', signal),
        };
    }

    /** The same frequencies as RoPE names them. @private */
    ropeValues() {
        const { d_model, base = '10000' } = this.width();
        return { head_dim: d_model, rope_theta: base, dtype: /** @type {const} */ ('float64') };
    }

    stop() {
        for (const ask of Object.values(this.asks)) ask.stop();
        for (const part of [this.row, this.column, this.fan]) part.stop();
        this.figure?.stop();
        this.drift.end();
    }
}

/** @param {HTMLElement} host @param {Context} context @returns {import('./rooms.js').Shown} */
export const show = (host, context) => new Waves(host, context);
