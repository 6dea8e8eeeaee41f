// sums.js - what a transformer is given: the embedding of a word plus the encoding of its position, channel by channel.
import { answer, json, posted } from '../parts/api.js';
import { choice, control } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { Heatmap } from '../parts/heatmap.js';
import { complaint, numbers, split } from '../parts/latest.js';
import { digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { note, phrases, story } from '../parts/story.js';
import { matrixOf } from '../parts/safetensors.js';
import { posting } from '../parts/take.js';
import { cellOf } from '../parts/view.js';
import { vector } from './maps.js';

/** @import { Cell } from '../parts/heatmap.js' */
/** @import { Context } from './rooms.js' */

/** @typedef {{words: string[], width: number, strips: import('../parts/safetensors.js').Numbers[]}} Sum the strips: embeddings, encodings, sums */

const WORDS_MAX = 12;
const WIDTH = 64;
const HEIGHT = { axis: 48, row: 28 };
/** @type {Record<string, string>} */
const USUAL = { s: 'dog bites dog', table: 'sinusoidal' };
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

class Sums extends Room {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, context) {
        super(context, USUAL);
        this.sentence = control(
            { name: 'sentence', type: 'text', required: false, description: `Up to ${WORDS_MAX} words.` },
            (value, done) => this.set({ s: value }, done),
        );
        /** Tables that training has made, if the server has some. @private @type {{name: string}[]} */
        this.learned = [];
        this.kind = h('div');
        this.fault = complaint();
        this.ask = this.asks(this.fault.show);
        this.strips = h('div.strips', { 'aria-busy': true });
        this.said = h('p', { role: 'status' });
        this.readout = new Readout();
        /** @private @type {Heatmap[]} */ this.maps = [];
        const source = () => {
            const { body, path } = this.#asked();
            return posting(path, body, [body.embeddings.length, body.embeddings[0].length], 'data', 'float32');
        };
        host.replaceChildren(
            story('Sums: a word and its position', WORDS, this.resources('sinusoidal/add')),
            split(
                [this.sentence.element, this.kind],
                this.section('sum', 'Three strips that add up', { first: true, source }, [
                    this.fault.element,
                    this.strips,
                    phrases(PHRASES, (cell) => this.#point(cell, true)),
                    this.said,
                    this.readout.element,
                ]),
            ),
            note(
                'The numbers of a word are hashed from its letters: they stand for no meaning. A model learns its own.',
            ),
        );
        json('/v1/learned')
            .then(({ tables }) => this.#offer(tables))
            .catch(this.fail);
        this.update();
    }

    /** @param {{name: string}[]} tables */
    #offer(tables) {
        this.learned = tables;
        const choices = [USUAL.table, ...tables.map(({ name }) => name)];
        const none = 'This server has no table that training has made; one with a --learned-dir lists them here.';
        const field = choice(
            'encodings',
            choices,
            (table) => this.set({ table, at: null }),
            tables.length > 0 ? '' : none,
        );
        field.show(this.get('table'));
        this.kind.replaceChildren(field.element);
        this.update();
    }

    /** @param {number} [width] */
    #asked(width = WIDTH) {
        const words = this.get('s').split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
        const table = this.learned.find(({ name }) => name === this.place.get('table'))?.name;
        // From -1 to 1, as sines and cosines are.
        const embeddings = words.map((word) => vector(word, 'embedding', '1', width).map((each) => each / 2));
        const path = table === undefined ? '/v1/sinusoidal/add' : `/v1/learned/${encodeURIComponent(table)}/add`;
        return { words, table, path, body: { embeddings } };
    }

    /** @param {AbortSignal} signal @returns {Promise<Sum>} */
    async #read(signal) {
        const { words, table } = this.#asked();
        const positions = `0:${words.length}`;
        const [path, values] =
            table === undefined
                ? ['/v1/sinusoidal', { d_model: `${WIDTH}`, positions }]
                : [`/v1/learned/${encodeURIComponent(table)}`, { positions, dtype: 'float32' }];
        const encodings = await numbers(await answer(path, values, { signal }), undefined, signal);
        const width = encodings.length / words.length;
        const asked = this.#asked(width);
        const sums = await posted(/** @type {'/v1/sinusoidal/add'} */ (asked.path), asked.body, { signal });
        const strips = [Float32Array.from(asked.body.embeddings.flat()), encodings, await numbers(sums)];
        return { words, width, strips };
    }

    update() {
        const { words, table } = this.#asked();
        this.sentence.show(this.get('s'));
        if (words.length === 0) return this.fault.show(new Error('A sentence has a word at least.'));
        void this.ask
            .ask(
                [words, table],
                (signal) => this.#read(signal),
                (found) => this.#show(found),
            )
            .then(() => this.#follow());
    }

    /** @param {Sum} found */
    #show(found) {
        const { words, width, strips } = found;
        this.#clear();
        this.found = found;
        const size = Math.max(...strips.flatMap((strip) => Array.from(strip, Math.abs)));
        this.maps = strips.map(
            (data, i) =>
                new Heatmap({
                    name: STRIPS[i],
                    matrix: matrixOf(STRIPS[i], data, width, 'float32'),
                    rowName: 'position',
                    columnName: 'channel',
                    rowLabel: (row) => `${row} ${words[row]}`,
                    bounds: () => [-size, size],
                    height: HEIGHT.axis + HEIGHT.row * words.length,
                    onCursor: (cell, _, done) => this.#point(cell, done),
                }),
        );
        this.strips.replaceChildren(...this.maps.flatMap(({ element }, i) => [h('h3', STRIPS[i]), element]));
        this.strips.removeAttribute('aria-busy');
        this.said.textContent = this.#twice();
    }

    /** What becomes of a word that stands twice. */
    #twice() {
        const { words, width, strips } = /** @type {Sum} */ (this.found);
        const second = words.findIndex((word, i) => words.indexOf(word) < i);
        if (second < 0) return 'Write a word twice to see what its position changes.';
        const first = words.indexOf(words[second]);
        const equal = /** @param {import('../parts/safetensors.js').Numbers} strip */ (strip) =>
            Array.from({ length: width }, (_, i) => i).filter(
                (i) => strip[first * width + i] === strip[second * width + i],
            ).length;
        return `“${words[second]}” stands at ${first} and at ${second}: of its ${width} channels ${equal(strips[0])} are equal before the sum, and ${equal(strips[2])} after it.`;
    }

    /** @param {Cell} cell @param {boolean} done */
    #point(cell, done) {
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

    #follow() {
        const cell = cellOf(this.place.get('at')) ?? { row: 0, column: 0 };
        this.maps.forEach((map) => map.show('', cell));
        this.#point(cell, false);
    }

    #clear() {
        this.maps.forEach((map) => map.stop());
    }

    stop() {
        super.stop();
        this.#clear();
    }
}

export const show = opened(Sums);
