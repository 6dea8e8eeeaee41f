// sums.js - what a transformer is given: the embedding of a word plus the encoding of its position, channel by channel.
import { answer, json, listed, posted } from '../parts/api.js';
import { h, put } from '../parts/dom.js';
import { digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { matrixOf } from '../parts/safetensors.js';
import { Strips } from '../parts/strips.js';
import { posting } from '../parts/take.js';
import { split as wordsOf, vector } from './maps.js';

/** @typedef {import('../parts/safetensors.js').Numbers} Numbers */

const WORDS_MAX = 12;
const WIDTH = 64;
const HEIGHT = { axis: 48, row: 28 };
const STRIPS = ['Embeddings: the words', '+ Encodings: their positions', '= Sums: what the first layer is given'];
const NONE = 'This server has no table that training has made; one with a --learned-dir lists them here.';

class Sums extends Room {
    usual = { s: 'dog bites dog', table: 'sinusoidal' };
    sentence = this.control(['sentence', 'text', `Up to ${WORDS_MAX} words.`], 's');
    /** Tables that training has made, if the server has some. @private @type {{name: string}[]} */ learned = [];
    kind = h('div');
    out = h('div.strips', { 'aria-busy': true });
    ask = this.asks(this.fault.show, { busy: this.out });
    said = h('p', { role: 'status' });
    readout = new Readout();
    strips = this.own(new Strips(this.place, (cell) => this.#point(cell), { first: { row: 0, column: 0 } }));
    /** The words, and the strips: embeddings, encodings, sums. @private */
    found = { words: [''], width: 0, strips: /** @type {Numbers[]} */ ([]) };

    notes = ['The numbers of a word are hashed from its letters: they stand for no meaning. A model learns its own.'];

    layout() {
        void json('/v1/learned').then(({ tables }) => {
            this.learned = tables;
            const choices = [this.usual.table, ...this.learned.map(({ name }) => name)];
            const field = this.control(['encodings', choices, tables.length > 0 ? '' : NONE], 'table', { at: null });
            put(this.kind, field);
            this.update();
        }, this.fail);
        const source = () => {
            const { body, path } = this.#asked();
            return posting(path, body, [body.embeddings.length, body.embeddings[0].length], 'data', 'float32');
        };
        const seen = [this.fault, this.out, this.said, this.readout];
        const sum = this.section('sum', 'Three strips that add up', { first: true, source }, seen);
        return [this.split([this.sentence, this.kind], sum)];
    }

    /** @param {number} [width] */
    #asked(width = WIDTH) {
        const words = wordsOf(this.get('s'), WORDS_MAX);
        const table = this.learned.find(({ name }) => name === this.place.get('table'))?.name;
        // From -1 to 1, as sines and cosines are.
        const embeddings = words.map((word) => vector(word, 'embedding', '1', width).map((each) => each / 2));
        const path = table === undefined ? '/v1/sinusoidal/add' : `/v1/learned/${encodeURIComponent(table)}/add`;
        return { words, table, path, body: { embeddings } };
    }

    load() {
        const { words, table, path } = this.#asked();
        if (words.length === 0) return this.fault.show(new Error('A sentence has a word at least.'));
        const positions = `0:${words.length}`;
        /** @type {Record<string, string>} */
        const values = table === undefined ? { d_model: `${WIDTH}`, positions } : { positions, dtype: 'float32' };
        void this.ask.ask(
            [words, table],
            async (signal) => {
                const found = await listed(await answer(path.replace('/add', ''), values, { signal }), signal);
                const [encodings] = Object.values(found);
                const width = encodings.length / words.length;
                const { body } = this.#asked(width);
                const sums = await posted(/** @type {'/v1/sinusoidal/add'} */ (path), body, signal);
                return { words, width, strips: [Float32Array.from(body.embeddings.flat()), encodings, sums] };
            },
            (found) => this.#show(found),
        );
        this.strips.follow();
    }

    /** @param {Sums['found']} found */
    #show(found) {
        this.found = found;
        const { words, width, strips } = found;
        const size = Math.max(...strips.flatMap((strip) => Array.from(strip, Math.abs)));
        const common = {
            ...{ rowName: 'position', columnName: 'channel', height: HEIGHT.axis + HEIGHT.row * words.length },
            rowLabel: (/** @type {number} */ row) => `${row} ${words[row]}`,
            bounds: () => /** @type {[number, number]} */ ([-size, size]),
        };
        const matrices = strips.map((data, i) => matrixOf(STRIPS[i], data, width, 'float32'));
        this.strips.show(matrices.map((matrix) => ({ ...common, matrix, name: matrix.name })));
        const seen = this.strips.maps.map((map, i) => [h('h3', STRIPS[i]), map]);
        put(this.out, seen);
        // What becomes of a word that stands twice.
        const second = words.findIndex((word, i) => words.indexOf(word) < i);
        const first = words.indexOf(words[second]);
        const equal = /** @param {Numbers} strip */ (strip) => {
            const [here, there] = [first, second].map((row) => strip.slice(row * width, (row + 1) * width));
            return here.filter((value, i) => value === there[i]).length;
        };
        this.said.textContent =
            second < 0
                ? 'Write a word twice to see what its position changes.'
                : `“${words[second]}” stands at ${first} and at ${second}: of its ${width} channels ${equal(strips[0])} are equal before the sum, and ${equal(strips[2])} after it.`;
    }

    /** @param {import('../parts/heatmap.js').Cell} cell */
    #point(cell) {
        const { words, width, strips } = this.found;
        const [row, column] = [Math.min(cell.row, words.length - 1), Math.min(cell.column, width - 1)];
        const at = strips.map((strip) => strip[row * width + column]);
        const [embedding, encoding, sum] = at.map((value) => digits(value, 'float32'));
        const bits = { 'bits of the sum': hex(at[2], 'float32') };
        this.readout.show({ position: row, word: words[row], channel: column, embedding, encoding, sum, ...bits });
    }
}

export const show = opened(Sums, {
    title: 'Sums: a word and its position',
    words: [
        'An embedding says which word it is and not where: the same word has the same row wherever it stands.',
        'The encoding of its position is added to it, channel by channel, and the sums tell the two apart.',
    ],
    papers: ['sinusoidal/add'],
    phrases: [
        ['The first channels change with every position', { at: '2,0' }],
        ['those in the middle change slowly', { at: '2,20' }],
        ['the last cosines add almost 1 to every word', { at: '2,63' }],
    ],
});
