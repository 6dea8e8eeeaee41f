// figure.js - an answer drawn: one axis as a curve, two as a heatmap, more as small multiples.
import { widest } from './chunks.js';
import { choice } from './controls.js';
import { Curve } from './curve.js';
import { attribute, h, put } from './dom.js';
import { meaning } from './facts.js';
import { Heatmap } from './heatmap.js';
import { digits } from './number.js';
import { pool } from './pooled.js';
import { Readout, told } from './readout.js';
import { table } from './table.js';
import { take } from './take.js';
import { cellOf, kept, whole } from './view.js';

/** @import { Fact } from './readout.js' */
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
        /** A name in the address. @private @param {string} name */ this.own = (name) =>
            `${options.prefix ?? ''}${name}`;
        this.options = options;
        this.readout = new Readout();
        this.meaning = this.#meaning();
        /** The large one. @type {Heatmap | null} */ this.heatmap = null;
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
        const { own } = this;
        this.tabs = choice('tensor', names, (name) =>
            this.#choose({ [own('tensor')]: name, [own('slice')]: null, [own('win')]: null, [own('at')]: null }),
        );
        this.tabs.element.hidden = names.length < 2;
        this.table = table(() => {
            const { heatmap, tensor } = this;
            if (heatmap || tensor.length === 0) return heatmap && heatmap.part;
            const { name, dtype, length: rows } = tensor;
            /** @type {Matrix} */
            const matrix = { name, dtype, rows, columns: 1, read: tensor.elements.bind(tensor) };
            const { rowLabel } = this.meaning;
            return { matrix, window: whole(matrix), rowLabel, columnLabel: () => name, caption: this.#name };
        });
        const along = take(() => ({ ...options, tensor: this.tensor, many: this.tensor.name !== 'data' }));
        // Scalars that are no words about the answer.
        const { encoding: _, ...scalars } = answer.scalars;
        const plain = Object.entries(scalars).filter(([, value]) => typeof value !== 'object');
        /** @type {Fact[]} */
        const facts = plain.map(([name, value]) => [name, typeof value === 'number' ? digits(value) : String(value)]);
        this.element = h('figure.figure', { 'data-path': options.path }, [
            h('figcaption', options.title),
            this.tabs,
            facts.length > 0 && h('dl.readout.scalars', told(facts)),
            this.frame,
            this.readout,
            h('div.panels', this.table, options.path !== '' && along),
        ]);
        this.update();
    }

    /** The tensor that is seen. @returns {Tensor} */
    get tensor() {
        const { tensors } = this.answer;
        return /** @type {Tensor} */ (tensors.get(this.#kept('tensor')) ?? tensors.values().next().value);
    }

    /** What its cells mean. */
    #meaning() {
        return meaning(this.options.path, this.answer, this.tensor, () => this.#point());
    }

    /** @param {Record<string, string | null>} changes by their names in the address */
    #choose(changes) {
        this.options.place.set(changes, { step: true });
        this.#draw();
    }

    /** An own value of the address. @param {string} name */
    #kept(name) {
        return this.options.place.get(this.own(name));
    }

    /** Which matrix is large. */
    get #what() {
        return `${this.tensor.name} ${this.#kept('slice')}`;
    }

    /** The address has changed: show what it says. */
    update() {
        this.tabs.show(this.tensor.name);
        if (this.heatmap === null || this.seen !== this.#what) return this.#draw();
        this.heatmap.show(this.#kept('win'), cellOf(this.#kept('at')));
        this.#point();
    }

    stop() {
        for (const part of this.parts) part.stop();
        this.parts = [];
    }

    #draw() {
        this.stop();
        this.heatmap = null;
        this.seen = this.#what;
        const { tensor } = this;
        this.meaning = this.#meaning();
        this.readout.show(null);
        if (tensor.length === 0) this.frame.replaceChildren(h('p', 'The answer has no elements.'));
        else if (tensor.shape.length < 2) void this.#curve(tensor);
        else this.#matrices(tensor);
        this.table.refresh();
    }

    /** @param {Tensor} tensor */
    async #curve(tensor) {
        const { columnName, rowName, placed, valueName, facts } = this.meaning;
        const { own } = this;
        const { place } = this.options;
        const at = /** @param {number} index @param {boolean} done */ (index, done) => {
            const all = facts({ row: index, column: index }, y[index]);
            this.readout.show(all.filter(([name]) => name !== (placed ? columnName : rowName)));
            if (done) place.look({ [own('at')]: String(index) });
        };
        const picture = new Curve({
            name: this.#name,
            xName: placed ? rowName : columnName,
            yName: valueName,
            points: tensor.length < 65,
            tabled: true,
            onCursor: at,
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
        put(this.frame, picture);
        picture.show([{ name: tensor.name, y, x: placed && Array.from(y, (_, i) => placed(i)) }]);
        const marked = place.number(own('at'), NaN);
        if (!(marked in y)) return;
        picture.mark(marked);
        at(marked, false);
    }

    /** What is seen, in words. */
    get #name() {
        return `${this.tensor.name} of ${this.options.title}`;
    }

    /** All matrices of a tensor small, where it has several, and one of them large. @param {Tensor} tensor */
    #matrices(tensor) {
        const rows = tensor.shape.at(-2) ?? 1;
        const n = rows === 0 ? 0 : tensor.rows / rows;
        this.slice = Math.min(n - 1, this.options.place.number(this.own('slice'), 0));
        this.shared = undefined;
        const [large, ...small] = this.maps;
        this.maps = [];
        const multiples = n > 1 ? [this.#small(tensor, n, small)] : [];
        const { slice, own } = this;
        const { onError, paint, place, path, values, body } = this.options;
        /** @type {Matrix} */
        const matrix = tensor.matrix(slice);
        // More than can be read is seen in the service's figure, where that has one matrix.
        if (path !== '' && body === undefined && paint === undefined && tensor.shape.length === 2) {
            const one = this.answer.tensors.size > 1 ? { ...values, tensor: tensor.name } : values;
            matrix.pool = pool(path, one, this.answer.parameters, matrix.rows);
        }
        this.heatmap = new Heatmap({
            ...this.meaning,
            ...{ matrix, onError, paint, name: this.#name, before: large?.picture, bounds: this.shared },
            onRead: () => this.#point(),
            onCursor: (cell, value, done) => {
                this.readout.show(this.meaning.facts(cell, value, slice));
                if (done) place.look({ [own('at')]: `${cell.row},${cell.column}` });
                this.options.onCursor?.(cell, done);
            },
            onView: (window) => {
                place.look({ [own('win')]: kept(window, matrix) });
                this.table.refresh();
            },
        });
        this.heatmap.show(this.#kept('win'), cellOf(this.#kept('at')));
        this.parts.push(this.heatmap);
        put(this.frame, multiples, this.heatmap);
        this.maps.unshift(this.heatmap);
        this.#point();
    }

    /** Say what is at the cursor, now that it may have been read. */
    #point() {
        const cell = cellOf(this.#kept('at'));
        if (cell !== null && this.heatmap)
            this.readout.show(this.meaning.facts(cell, this.heatmap.value(cell), this.slice));
    }

    /** All matrices of a tensor, small, with a scale each, in which a flat one is seen as well as a steep one, or with
     * one scale. @param {Tensor} tensor @param {number} n @param {Heatmap[]} before */
    #small(tensor, n, before) {
        const shown = Math.min(n, SMALL_MAX);
        const { maps, slice } = this;
        const scaling = this.#kept('colours') || SCALES[0];
        if (scaling === SCALES[1]) this.shared = () => widest(maps.map((map) => map.chunks.bounds));
        for (let i = 0; i < shown; i++) {
            const map = new Heatmap({
                matrix: tensor.matrix(i),
                name: `number ${i}`,
                before: before[i]?.picture,
                bare: true,
                bounds: this.shared,
                onRead: () => maps.forEach((each) => each.draw()),
                onError: this.options.onError,
            });
            attribute(map.canvas, { tabindex: -1, role: 'img' });
            maps.push(map);
        }
        this.parts.push(...maps);
        const colours = choice('colours', SCALES, (value) =>
            this.#choose({ [this.own('colours')]: value === SCALES[0] ? null : value }),
        );
        colours.show(scaling);
        const button = /** @param {Heatmap} map @param {number} i */ ({ element }, i) => {
            const onclick = () => this.#choose({ [this.own('slice')]: String(i), [this.own('at')]: null });
            const named = { 'aria-pressed': i === slice, 'aria-label': `Show number ${i}` };
            return h('button', { type: 'button', ...named, onclick }, element, h('span', i));
        };
        return h('div.multiples', [
            maps.map(button),
            maps[0].note,
            colours,
            n > shown && h('p.note', `The first ${shown} of ${n} are shown.`),
        ]);
    }
}
