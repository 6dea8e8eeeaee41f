// figure.js - an answer drawn: one axis as a curve, two as a heatmap, more as small multiples.
import { widest } from './chunks.js';
import { choice } from './controls.js';
import { Curve } from './curve.js';
import { h } from './dom.js';
import { meaning } from './facts.js';
import { Heatmap } from './heatmap.js';
import { digits } from './number.js';
import { pool } from './pooled.js';
import { Readout } from './readout.js';
import { table } from './table.js';
import { take } from './take.js';
import { cellOf, kept, whole } from './view.js';

/** @import { Answer, Matrix, Tensor } from './safetensors.js' */

/**
 * @typedef {object} Options
 * @property {string} path empty: the page has made the numbers, and nothing is taken along
 * @property {Record<string, string>} values as they were asked for
 * @property {object} [body]
 * @property {string} title
 * @property {import('./place.js').Place} place keeps tensor, slice, win (the window) and at (the cursor)
 * @property {string} [prefix] of these names, where a room has several figures
 * @property {(error: unknown) => void} onError
 * @property {(cell: {row: number, column: number}, done: boolean) => void} [onCursor] the cursor of a matrix has moved
 * @property {import('./heatmap.js').Options['paint']} [paint] colours of its own
 * @property {Figure | null} [before] the one whose place it takes: its picture stays until this one's is there
 */

const SMALL_MAX = 128;
const SCALES = ['a scale each', 'one scale'];

export class Figure {
    /** @param {Answer} answer @param {Options} given */
    constructor(answer, { before, ...options }) {
        this.answer = answer;
        this.options = options;
        this.readout = new Readout();
        this.meaning = meaning(options.path, answer, this.tensor, () => this.#point());
        /** @private @type {Heatmap | null} */ this.heatmap = null;
        /** The heatmaps, the large one first: their pictures stay until those that take their places are there.
         * @private @type {Heatmap[]} */
        this.maps = before?.maps ?? [];
        /** @private @type {{stop: () => void}[]} */ this.parts = [];
        /** @private */ this.seen = '';
        /** The bounds of all matrices of a tensor, for one scale. @private @type {(() => [number, number]) | undefined} */
        this.shared = undefined;
        /** Which matrix of the tensor is seen large. @private */ this.slice = 0;
        /** @private @type {HTMLElement} */ this.frame = h('div.figure-frame', [...(before?.frame.childNodes ?? [])]);
        const names = [...answer.tensors.keys()];
        this.tabs = h('div.segments', { role: 'radiogroup', 'aria-label': 'Tensor', hidden: names.length < 2 }, [
            names.map((name) =>
                h('label', [
                    h('input', {
                        type: 'radio',
                        name: this.#key('tensor'),
                        value: name,
                        checked: name === this.tensor.name,
                        onchange: () => this.#choose({ tensor: name, slice: null, win: null, at: null }),
                    }),
                    h('span', name),
                ]),
            ),
        ]);
        this.table = table(() => this.#part());
        const along = take(() => ({ ...options, tensor: this.tensor, many: this.tensor.name !== 'data' }));
        this.scalars = h('dl.readout.scalars', { hidden: Object.keys(this.#facts()).length === 0 }, [
            Object.entries(this.#facts()).map(([name, value]) => h('div', h('dt', name), h('dd', value))),
        ]);
        this.element = h('figure.figure', { 'data-path': options.path }, [
            h('figcaption', options.title),
            this.tabs,
            this.scalars,
            this.frame,
            this.readout.element,
            h('div.panels', this.table.element, options.path !== '' && along),
        ]);
        this.#draw();
    }

    /** The tensor that is seen. @returns {Tensor} */
    get tensor() {
        const { tensors } = this.answer;
        const tensor = tensors.get(this.options.place.get(this.#key('tensor'))) ?? tensors.values().next().value;
        return /** @type {Tensor} */ (tensor);
    }

    /** Scalars of the answer that are no words about it. */
    #facts() {
        const { encoding: _, ...scalars } = this.answer.scalars;
        return Object.fromEntries(
            Object.entries(scalars)
                .filter(([, value]) => typeof value !== 'object')
                .map(([name, value]) => [name, typeof value === 'number' ? digits(value, 'float64') : String(value)]),
        );
    }

    /** @param {Record<string, string | null>} changes */
    #choose(changes) {
        this.#keep(changes, { step: true });
        this.#draw();
    }

    /** @param {string} name */
    #key(name) {
        return `${this.options.prefix ?? ''}${name}`;
    }

    /** Write own values to the address. @param {Record<string, string | null>} changes @param {{step?: boolean}} [how] */
    #keep(changes, how) {
        const named = Object.entries(changes).map(([name, value]) => [this.#key(name), value]);
        this.options.place.set(Object.fromEntries(named), how);
    }

    /** Which matrix is large. */
    #what() {
        return `${this.tensor.name} ${this.options.place.get(this.#key('slice'))}`;
    }

    /** The address has changed: show what it says. */
    update() {
        for (const input of this.tabs.querySelectorAll('input')) input.checked = input.value === this.tensor.name;
        const { place } = this.options;
        if (this.heatmap === null || this.seen !== this.#what()) return this.#draw();
        this.heatmap.show(place.get(this.#key('win')), this.#cell());
        this.#point();
    }

    /** Draw again, where colours have changed. */
    repaint() {
        this.heatmap?.draw();
    }

    /** Move the cursor. @param {import('./heatmap.js').Cell} cell */
    move(cell) {
        this.heatmap?.move(cell, true);
    }

    stop() {
        for (const part of this.parts) part.stop();
        this.parts = [];
    }

    #draw() {
        this.stop();
        this.heatmap = null;
        this.seen = this.#what();
        const { tensor } = this;
        this.meaning = meaning(this.options.path, this.answer, tensor, () => this.#point());
        this.readout.show(null);
        if (tensor.length === 0) this.frame.replaceChildren(h('p', 'The answer has no elements.'));
        else if (tensor.shape.length < 2) void this.#curve(tensor);
        else this.#matrices(tensor);
        this.table.refresh();
    }

    /** @param {Tensor} tensor */
    async #curve(tensor) {
        const { columnName, rowName, placed, valueName } = this.meaning;
        const picture = new Curve({
            name: `${tensor.name} of ${this.options.title}`,
            xName: placed ? rowName : columnName,
            yName: valueName,
            points: tensor.length < 65,
            tabled: true,
            onCursor: (index, done) => this.#at(index, y[index], done),
        });
        this.parts.push(picture);
        this.maps = [];
        /** @type {ArrayLike<number>} */
        let y = [];
        try {
            y = await tensor.all();
        } catch (error) {
            return this.options.onError(error);
        }
        if (!this.parts.includes(picture)) return;
        this.frame.replaceChildren(picture.element);
        picture.show([{ name: tensor.name, y, x: placed && Array.from(y, (_, i) => placed(i)) }]);
        const at = this.options.place.number(this.#key('at'), NaN);
        if (at in y) {
            picture.mark(at);
            this.#at(at, y[at], null);
        }
    }

    /** @param {number} index @param {number} value @param {boolean | null} done null: the address says so */
    #at(index, value, done) {
        const { columnName, rowName, placed, facts } = this.meaning;
        const all = facts({ row: index, column: index }, value);
        this.readout.show(all.filter(([name]) => name !== (placed ? columnName : rowName)));
        if (done) this.#keep({ at: String(index) });
    }

    /** @param {Tensor} tensor */
    #matrices(tensor) {
        const rows = tensor.shape.at(-2) ?? 1;
        const n = rows === 0 ? 0 : tensor.rows / rows;
        this.slice = Math.min(n - 1, this.options.place.number(this.#key('slice'), 0));
        this.shared = undefined;
        const [large, ...small] = this.maps;
        this.maps = [];
        const multiples = n > 1 ? [this.#small(tensor, n, small)] : [];
        const big = this.#large(tensor, large);
        this.frame.replaceChildren(...multiples, big.element);
        this.maps.unshift(big);
        this.heatmap = big;
        this.#point();
    }

    /** One matrix of a tensor; more of it than can be read is seen in the service's figure, where that has one matrix.
     * @param {Tensor} tensor @param {number} slice @returns {Matrix} */
    #matrix(tensor, slice) {
        const { path, values, body, paint } = this.options;
        const matrix = tensor.matrix(slice);
        const own = path === '' || body !== undefined || paint !== undefined || tensor.shape.length > 2;
        if (own) return matrix;
        const one = this.answer.tensors.size > 1 ? { ...values, tensor: tensor.name } : values;
        return { ...matrix, pool: pool(path, one, this.answer.parameters, matrix.rows) };
    }

    /** @param {Tensor} tensor @param {Heatmap | undefined} before */
    #large(tensor, before) {
        const { slice } = this;
        const { place, title, onError } = this.options;
        const { rowName, columnName, rowLabel, columnLabel } = this.meaning;
        const matrix = this.#matrix(tensor, slice);
        const map = new Heatmap({
            matrix,
            name: `${tensor.name} of ${title}`,
            rowName,
            columnName,
            rowLabel,
            columnLabel,
            onError,
            paint: this.options.paint,
            before: before?.picture,
            bounds: this.shared,
            onRead: () => this.#point(),
            onCursor: (cell, value, done) => {
                this.readout.show(this.meaning.facts(cell, value, slice));
                if (done) this.#keep({ at: `${cell.row},${cell.column}` });
                this.options.onCursor?.(cell, done);
            },
            onView: (window) => {
                this.#keep({ win: kept(window, matrix) });
                this.table.refresh();
            },
        });
        map.show(place.get(this.#key('win')), this.#cell());
        this.parts.push(map);
        return map;
    }

    /** The cell that the address names. */
    #cell() {
        return cellOf(this.options.place.get(this.#key('at')));
    }

    /** Say what is at the cursor, now that it may have been read. */
    #point() {
        const cell = this.#cell();
        if (cell !== null && this.heatmap)
            this.readout.show(this.meaning.facts(cell, this.heatmap.value(cell), this.slice));
    }

    /** Whether small matrices have one scale, or a scale each, in which a flat one is seen as well as a steep one. */
    #scaling() {
        const name = this.#key('colours');
        const field = choice('colours', SCALES, (value) =>
            this.#choose({ colours: value === SCALES[0] ? null : value }),
        );
        field.show(this.options.place.get(name, SCALES[0]));
        return field.element;
    }

    /** All matrices of a tensor, small. @param {Tensor} tensor @param {number} n @param {Heatmap[]} before */
    #small(tensor, n, before) {
        const shown = Math.min(n, SMALL_MAX);
        const { maps, slice } = this;
        const bounds = () => widest(maps.map((map) => map.chunks.bounds));
        const one = this.options.place.get(this.#key('colours')) === SCALES[1];
        if (one) this.shared = bounds;
        for (let i = 0; i < shown; i++) {
            const map = new Heatmap({
                matrix: tensor.matrix(i),
                name: `number ${i}`,
                before: before[i]?.picture,
                bare: true,
                bounds: one ? bounds : undefined,
                onRead: () => maps.forEach((each) => each.draw()),
                onError: this.options.onError,
            });
            map.canvas.tabIndex = -1;
            map.canvas.setAttribute('role', 'img');
            maps.push(map);
        }
        this.parts.push(...maps);
        return h('div.multiples', [
            maps.map((map, i) =>
                h(
                    'button',
                    {
                        type: 'button',
                        'aria-pressed': i === slice,
                        'aria-label': `Show number ${i}`,
                        onclick: () => this.#choose({ slice: String(i), at: null }),
                    },
                    [map.element, h('span', i)],
                ),
            ),
            maps[0].note,
            this.#scaling(),
            n > shown && h('p.note', `The first ${shown} of ${n} are shown.`),
        ]);
    }

    /** What the table shows. */
    #part() {
        const { rowLabel, columnLabel } = this.meaning;
        const caption = `${this.tensor.name} of ${this.options.title}`;
        if (this.heatmap)
            return { matrix: this.heatmap.matrix, window: this.heatmap.window, rowLabel, columnLabel, caption };
        const { tensor } = this;
        if (tensor.length === 0) return null;
        /** @type {Matrix} */
        const matrix = {
            name: tensor.name,
            dtype: tensor.dtype,
            rows: tensor.length,
            columns: 1,
            read: (first, count, signal) => tensor.elements(first, count, signal),
        };
        return { matrix, window: whole(matrix), rowLabel, columnLabel: () => tensor.name, caption };
    }
}
