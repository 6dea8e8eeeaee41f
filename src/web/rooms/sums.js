// sums.js - what a transformer is given: the embedding of a word plus the encoding of its position, channel by channel.
import { answer, json, posted } from '../parts/api.js';
import { choice, control } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { Heatmap } from '../parts/heatmap.js';
import { Latest, complaint, numbers, section, split } from '../parts/latest.js';
import { find } from '../parts/listing.js';
import { digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { note, story } from '../parts/story.js';
import { cellOf } from '../parts/view.js';
import { vector } from './maps.js';

/** @typedef {import('./rooms.js').Context} Context */
/** @typedef {import('../parts/heatmap.js').Cell} Cell */
/** @typedef {import('../parts/safetensors.js').Numbers} Numbers */
/** @typedef {{words: string[], width: number, strips: Numbers[]}} Sum the strips: embeddings, encodings, sums */

const SENTENCE = 'dog bites dog';
const WORDS_MAX = 12;
const WIDTH = 64;
const HEIGHT = { axis: 48, row: 28 };
const SINUSOIDAL = 'sinusoidal';
const STRIPS = ['Embeddings: the words', '+ Encodings: their positions', '= Sums: what the first layer is given'];

const WORDS = [
    'An embedding says which word it is and not where: the same word has the same row wherever it stands.',
    'The encoding of its position is added to it, channel by channel, and the sums tell the two apart.',
];

/** Which cell each phrase points at. @type {[string, Cell][]} */
const PHRASES = [
    ['The first channels change with every position', { row: 2, column: 0 }],
    ['those in the middle change slowly', { row: 2, column: 20 }],
    ['the last cosines add almost 1 to every word', { row: 2, column: 63 }],
];

class Sums {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, { place, listing, fail }) {
        this.place = place;
        this.sentence = control(
            { name: 'sentence', type: 'text', required: false, description: `Up to ${WORDS_MAX} words.` },
            (value, done) => this.set({ s: value === SENTENCE ? null : value }, done),
        );
        /** Tables that training has made, if the server has some. @private @type {{name: string}[]} */
        this.learned = [];
        this.kind = h('div');
        this.fault = complaint();
        this.ask = new Latest(this.fault.show);
        this.strips = h('div', { class: 'strips', 'aria-busy': true });
        this.said = h('p', { role: 'status' });
        this.readout = new Readout();
        /** @private @type {Heatmap[]} */ this.maps = [];
        const phrase = /** @param {[string, Cell]} of */ ([words, cell]) =>
            h('button', { type: 'button', class: 'phrase', onclick: () => this.point(cell, true) }, words);
        const source = () => {
            const { body, path } = this.asked();
            const shape = [body.embeddings.length, body.embeddings[0].length];
            return { path, values: {}, body, tensor: { name: 'data', shape, dtype: 'float32' }, many: false };
        };
        host.replaceChildren(
            story('Sums: a word and its position', WORDS, [find(listing, 'sinusoidal/add')]),
            split(
                [this.sentence.element, this.kind],
                section(
                    place,
                    { name: 'sum', title: 'Three strips that add up', first: true, source },
                    this.fault.element,
                    this.strips,
                    h(
                        'p',
                        { class: 'note' },
                        PHRASES.flatMap((each, i) => [i > 0 ? ', ' : '', phrase(each)]),
                        '.',
                    ),
                    this.said,
                    this.readout.element,
                ),
            ),
            note(
                'The numbers of a word are hashed from its letters: they stand for no meaning. A model learns its own.',
            ),
        );
        json('/v1/learned')
            .then(({ tables }) => this.offer(tables))
            .catch(fail);
        this.update();
    }

    /** @private @param {{name: string}[]} tables */
    offer(tables) {
        this.learned = tables;
        const choices = [SINUSOIDAL, ...tables.map(({ name }) => name)];
        const none = 'This server has no table that training has made; one with a --learned-dir lists them here.';
        const field = choice(
            'encodings',
            choices,
            (name) => this.set({ table: name === SINUSOIDAL ? null : name, at: null }, true),
            tables.length > 0 ? '' : none,
        );
        field.show(this.place.get('table', SINUSOIDAL));
        this.kind.replaceChildren(field.element);
        this.update();
    }

    /** @private @param {Record<string, string | null>} changes @param {boolean} done */
    set(changes, done) {
        this.place.set(changes, { step: done });
        this.update();
    }

    /** @private @param {number} [width] */
    asked(width = WIDTH) {
        const words = this.place.get('s', SENTENCE).split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
        const table = this.learned.find(({ name }) => name === this.place.get('table'))?.name;
        // From -1 to 1, as sines and cosines are.
        const embeddings = words.map((word) => vector(word, 'embedding', '1', width).map((each) => each / 2));
        const path = table === undefined ? '/v1/sinusoidal/add' : `/v1/learned/${encodeURIComponent(table)}/add`;
        return { words, table, path, body: { embeddings } };
    }

    /** @private @param {AbortSignal} signal @returns {Promise<Sum>} */
    async read(signal) {
        const { words, table } = this.asked();
        const positions = `0:${words.length}`;
        const [path, values] =
            table === undefined
                ? ['/v1/sinusoidal', { d_model: `${WIDTH}`, positions }]
                : [`/v1/learned/${encodeURIComponent(table)}`, { positions, dtype: 'float32' }];
        const encodings = await numbers(await answer(path, values, { signal }), undefined, signal);
        const width = encodings.length / words.length;
        const asked = this.asked(width);
        const sums = await posted(/** @type {'/v1/sinusoidal/add'} */ (asked.path), asked.body, { signal });
        const strips = [Float32Array.from(asked.body.embeddings.flat()), encodings, await numbers(sums)];
        return { words, width, strips };
    }

    update() {
        const { words, table } = this.asked();
        this.sentence.show(this.place.get('s', SENTENCE));
        if (words.length === 0) return this.fault.show(new Error('A sentence has a word at least.'));
        void this.ask
            .ask(
                [words, table],
                (signal) => this.read(signal),
                (found) => this.show(found),
            )
            .then(() => this.follow());
    }

    /** @private @param {Sum} found */
    show(found) {
        const { words, width, strips } = found;
        this.clear();
        this.found = found;
        const size = Math.max(...strips.flatMap((strip) => Array.from(strip, Math.abs)));
        this.maps = strips.map(
            (data, i) =>
                new Heatmap({
                    name: STRIPS[i],
                    matrix: {
                        name: STRIPS[i],
                        dtype: 'float32',
                        rows: words.length,
                        columns: width,
                        read: async (first, count) => data.slice(first * width, (first + count) * width),
                    },
                    rowName: 'position',
                    columnName: 'channel',
                    rowLabel: (row) => `${row} ${words[row]}`,
                    bounds: () => [-size, size],
                    height: HEIGHT.axis + HEIGHT.row * words.length,
                    onCursor: (cell, _, done) => this.point(cell, done),
                }),
        );
        this.strips.replaceChildren(...this.maps.flatMap(({ element }, i) => [h('h3', {}, STRIPS[i]), element]));
        this.strips.removeAttribute('aria-busy');
        this.said.textContent = this.twice();
    }

    /** What becomes of a word that stands twice. @private */
    twice() {
        const { words, width, strips } = /** @type {Sum} */ (this.found);
        const second = words.findIndex((word, i) => words.indexOf(word) < i);
        if (second < 0) return 'Write a word twice to see what its position changes.';
        const first = words.indexOf(words[second]);
        const equal = /** @param {Numbers} strip */ (strip) =>
            Array.from({ length: width }, (_, i) => i).filter(
                (i) => strip[first * width + i] === strip[second * width + i],
            ).length;
        return `“${words[second]}” stands at ${first} and at ${second}: of its ${width} channels ${equal(strips[0])} are equal before the sum, and ${equal(strips[2])} after it.`;
    }

    /** @private @param {Cell} cell @param {boolean} done */
    point(cell, done) {
        const { words, width, strips } = this.found ?? { words: [], width: 0, strips: [] };
        const [row, column] = [Math.min(cell.row, words.length - 1), Math.min(cell.column, width - 1)];
        if (row < 0) return;
        if (done) {
            this.place.set({ at: `${row},${column}` });
            this.maps.forEach((map) => map.show('', { row, column }));
        }
        const at = strips.map((strip) => strip[row * width + column]);
        const [word, encoding, sum] = at.map((value) => digits(value, 'float32'));
        this.readout.show([
            ['position', row],
            ['word', words[row]],
            ['channel', column],
            ['embedding', word],
            ['encoding', encoding],
            ['sum', sum],
            ['bits of the sum', hex(at[2], 'float32')],
        ]);
    }

    /** @private */
    follow() {
        const cell = cellOf(this.place.get('at')) ?? { row: 0, column: 0 };
        this.maps.forEach((map) => map.show('', cell));
        this.point(cell, false);
    }

    /** @private */
    clear() {
        this.maps.forEach((map) => map.stop());
    }

    stop() {
        this.ask.stop();
        this.clear();
    }
}

/** @param {HTMLElement} host @param {Context} context @returns {import('./rooms.js').Shown} */
export const show = (host, context) => new Sums(host, context);
