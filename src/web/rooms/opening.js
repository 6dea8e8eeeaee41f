// opening.js - the first screen: what this is, one picture, why its numbers are exact, and two doors.
import { arrays } from '../parts/api.js';
import { h, put, svg } from '../parts/dom.js';
import { apart as largest, brief, digits } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { matrixOf } from '../parts/safetensors.js';
import { Strips } from '../parts/strips.js';
import { picker } from './catalogue.js';
import { between } from './drift.js';

/** @import { Cell } from '../parts/heatmap.js' */

/** @typedef {{to: number, angle: number, most: number, exact: number}} Far the worst angle before a position */

const WIDTH = 128;
const ROWS = 128;
const FIRST = { row: 40, column: 12 };
const FAR = [4096, 131072, 1048576];
// So many positions before each of these are compared.
const BEFORE = 128;

/** The worst angle and the largest difference of a table in float32. @param {Record<string, string>} of @param {number} to
 * @param {AbortSignal} signal @returns {Promise<Far>} */
async function farthest(of, to, signal) {
    const values = { ...of, positions: `${to - BEFORE}:${to}`, dtype: /** @type {const} */ ('float64') };
    const table = /** @param {'exact' | 'float32'} numerics */ (numerics) =>
        arrays('/v1/rope/table', { ...values, numerics }, signal);
    const [exact, rounded] = await Promise.all([table('exact'), table('float32')]);
    const angles = between([exact, rounded]);
    const worst = angles.reduce((best, angle, i) => (Math.abs(angle) > Math.abs(angles[best]) ? i : best), 0);
    const differences = ['cos', 'sin'].map((name) => largest(exact[name], rounded[name]));
    const turned = Math.atan2(exact.sin[worst], exact.cos[worst]);
    return { to, angle: angles[worst], most: Math.max(...differences), exact: turned };
}

/** A hand from the middle. @param {string} name @param {number} angle */
const hand = (name, angle) => svg('line', { class: name, x2: 48 * Math.cos(angle), y2: -48 * Math.sin(angle) });

/** The hand of the worst pair, exact and as float32 turns it. @param {Far} far */
function dial({ to, angle, most, exact }) {
    const apart = `${brief(Math.abs(angle), 2)} rad`;
    const hands = [hand('rounded', exact + angle), hand('exact', exact)];
    const named = { viewBox: '-52 -52 104 104', role: 'img', 'aria-label': `${apart} apart` };
    return h('figure.far', [
        svg('svg', named, svg('circle.rim', { r: 50 }), hands),
        h('figcaption', [
            h('span', `before position ${brief(to)}`),
            h('b', apart),
            h('span.note', `cosines and sines differ by up to ${brief(most, 2)}`),
        ]),
    ]);
}

/** @type {[to: string, title: string, words: string][]} */
const DOORS = [
    ['#/words', 'Learn', 'Nine short chapters, from why order is lost to which scheme is which.'],
    ['#/doctor', 'Check my table', 'Drop a file: it is right, or you are told which mistake explains it.'],
];

class Opening extends Room {
    picture = h('div.picture', { 'aria-busy': true });
    table = this.asks(undefined, { busy: this.picture });
    far = this.asks(this.fault.show);
    said = h('p.caption', { role: 'status' });
    wave = this.plot({
        name: 'The wave under the pointer',
        xName: 'position',
        yRange: [-1, 1],
        height: 150,
        tabled: true,
    });
    fars = h('div.fars', { role: 'status' });
    /** @private @type {ArrayLike<number>} */ data = [];
    strips = this.own(new Strips(this.place, (cell) => this.#point(cell), { first: FIRST }));

    layout() {
        const hero = h('section.hero', { 'aria-label': 'A table of positions' }, [
            h('h1', 'Where a word stands, in exact numbers'),
            h('div.intro', [
                h('p.lead', [
                    'A transformer sees no order until every position has its numbers: this service computes them, for every published scheme and ',
                    h('a', { href: '#/models' }, 'hundreds of models'),
                    ', each number correctly rounded.',
                ]),
                h('nav.doors', { 'aria-label': 'Ways in' }, [
                    DOORS.map(([href, title, words]) => h('a.door', { href }, h('b', title), h('span', words))),
                ]),
            ]),
            this.picture,
            this.said,
            this.wave,
            this.phrases(),
        ]);
        const why = h('section.why', { 'aria-label': 'Why exact' }, [
            h('h2', 'Why exact'),
            h('p.lead', [
                'RoPE turns each pair of channels by its position times a frequency. float32, as in PyTorch’s reference code, ' +
                    'rounds that angle, and the farther the position, the more. The thin hand is exact, the wide one is float32. Without a model, heads have 128 channels and the base is 10000.',
            ]),
            this.bound('model', (change) => picker(change, { encodings: ['rope'] })),
            this.fault,
            this.fars,
        ]);
        return [hero, why];
    }

    load() {
        const model = this.place.get('model');
        /** @type {Record<string, string>} */
        const of = model === '' ? { head_dim: '128' } : { model };
        void this.far.ask(
            of,
            (signal) => Promise.all(FAR.map((to) => farthest(of, to, signal))),
            (found) => put(this.fars, found.map(dial)),
        );
        void this.table.ask(
            '',
            (signal) => arrays('/v1/sinusoidal', { d_model: `${WIDTH}`, positions: `0:${ROWS}` }, signal),
            ({ data }) => {
                this.data = data;
                const matrix = matrixOf('encodings', data, WIDTH, 'float32');
                const named = { name: 'Sinusoidal encodings', rowName: 'position', columnName: 'dimension' };
                this.strips.show([{ matrix, ...named }]);
                put(this.picture, this.strips.maps[0].element);
            },
        );
        this.strips.follow();
    }

    /** The wave and the value of a cell. @param {Cell} cell */
    #point(cell) {
        const [row, column] = [Math.min(cell.row, ROWS - 1), Math.min(cell.column, WIDTH - 1)];
        const name = column % 2 === 0 ? 'sin' : 'cos';
        const pair = column - (column % 2);
        this.said.textContent = `Position ${row}, dimension ${column}: ${name}(${row} / 10000^(${pair}/${WIDTH})) = ${digits(this.data[row * WIDTH + column], 'float32')}`;
        this.wave.show([{ name: 'wave', y: Array.from(this.data).filter((_, i) => i % WIDTH === column) }]);
        this.wave.mark(row);
    }
}

export const show = opened(Opening, {
    phrases: [
        ['The first columns turn once in six positions', { at: '40,0' }],
        ['those in the middle take hundreds', { at: '64,56' }],
        ['the last ones hardly move', { at: '100,126' }],
    ],
});
