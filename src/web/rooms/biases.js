// biases.js - what is added to the scores of attention by distance: ALiBi's slopes, and maps of buckets.
import { arrays, tensors } from '../parts/api.js';
import { choice, form } from '../parts/controls.js';
import { h, put } from '../parts/dom.js';
import { formula, power, row } from '../parts/formula.js';
import { digits } from '../parts/number.js';
import { texts } from '../parts/place.js';
import { Room, opened } from '../parts/room.js';
import { later } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { Buckets } from './buckets.js';

/** @typedef {Record<string, string>} Values */
/** @typedef {'/v1/alibi/bias' | '/v1/t5/buckets' | '/v1/shaw/indices' | '/v1/swin/index'} Path */
/** @template {Path} P @typedef {import('../parts/api.js').Asked<P>} Asked */
/** @template {Path} P @typedef {{path: P, names: readonly (keyof Asked<P>)[], values: Asked<P>, fixed?: Asked<P>}} Of */
/** @typedef {{[P in Path]: Of<P>}[Path]} Kind */

const BUCKETS = /** @type {const} */ (['query_length', 'key_length', 'num_buckets', 'max_distance']);
const LENGTHS = { query_length: '160', num_buckets: '32', max_distance: '128' };

/** @type {Record<string, Kind>} */
const KINDS = {
    alibi: {
        path: '/v1/alibi/bias',
        names: ['num_heads', 'query_length', 'form', 'variant', 'alibi_bias_max'],
        values: { num_heads: '8', query_length: '32' },
    },
    t5: { path: '/v1/t5/buckets', names: [...BUCKETS, 'bidirectional'], values: LENGTHS },
    deberta: { path: '/v1/t5/buckets', names: BUCKETS, values: LENGTHS, fixed: { variant: 'deberta' } },
    shaw: {
        path: '/v1/shaw/indices',
        names: ['query_length', 'key_length', 'max_relative_position', 'left_max', 'right_max'],
        values: { query_length: '32', max_relative_position: '8' },
    },
    swin: {
        path: '/v1/swin/index',
        names: ['window_height', 'window_width'],
        values: { window_height: '7', window_width: '7' },
    },
};
/** @type {Record<string, string>} */
const TITLES = { alibi: 'ALiBi', t5: 'T5', deberta: 'DeBERTa', shaw: 'Shaw', swin: 'Swin' };
const SLOPES = ['num_heads', 'variant', 'alibi_bias_max'];
const FIRST = 'alibi';
// What another value begins anew.
const BEGIN = { win: null, at: null, slice: null, bucket: null };
// The third form of ALiBi has one row a head, which is no map.
const FORMS = ['symmetric', 'causal'];

/** The slope of the ninth of 12 heads under both rules. */
async function third() {
    const [press, formula] = await Promise.all(
        /** @type {const} */ (['press', 'formula']).map(async (variant) => {
            const { data } = await arrays('/v1/alibi/slopes', { num_heads: '12', variant });
            return digits(data[8], 'float32');
        }),
    );
    return `${press}, not ${formula}`;
}

class Biases extends Room {
    usual = { scheme: FIRST, slice: '0' };
    controls = form((name, value, done) => this.set({ [name]: value, ...(done ? BEGIN : {}) }, done));
    picture = h('div.picture', { 'aria-busy': true });
    slopes = h('ol.bars');
    buckets = new Buckets((bucket) => this.set({ bucket }));
    /** Another scheme: its parameters begin anew. */
    kind = choice('scheme', Object.keys(KINDS), (scheme) => this.renew({ scheme }));
    ask = this.asks(this.controls.fail, { busy: this.picture });
    slopesPart = h('div');
    bucketsPart = h('div', this.buckets, this.buckets.words);

    notes = [
        [
            'Some texts give every number of heads the slopes ',
            formula(power(2, row('−', 8, 'h', '/', 'H'))),
            '. The published rule says so for powers of two only: of 12 heads, the ninth has ',
            later(third()),
            '.',
        ],
    ];

    layout() {
        for (const input of this.kind.element.querySelectorAll('input'))
            input.nextElementSibling?.replaceChildren(TITLES[input.value]);
        const source = () => plain('/v1/alibi/slopes', this.#slopesOf(this.#values()));
        this.slopesPart.append(this.section('slopes', 'Slopes', { source }, this.slopes));
        const map = this.section('map', 'Maps of query and key', { first: true }, this.bucketsPart, this.picture);
        return [this.split([this.kind, this.controls], this.slopesPart, map)];
    }

    get #scheme() {
        const name = this.get('scheme');
        return name in KINDS ? name : FIRST;
    }

    /** @returns {Values} */
    #values() {
        const { names, values } = KINDS[this.#scheme];
        return { ...values, ...this.chosen(names) };
    }

    load() {
        const kind = KINDS[this.#scheme];
        const rows = this.rows(kind.path, kind.names);
        const forms = rows.map((row) => (row.name === 'form' ? { ...row, choices: FORMS } : row));
        this.controls.show(forms, this.#values(), kind.values);
        this.kind.show(this.#scheme);
        const asked = { ...this.#values(), ...kind.fixed };
        void this.ask
            .ask(
                [kind.path, asked],
                (signal) => this.read(kind, asked, signal),
                ({ found, slopes }) => {
                    this.slopesPart.hidden = slopes === null;
                    this.bucketsPart.hidden = slopes !== null;
                    const most = Math.max(...(slopes ?? []));
                    put(
                        this.slopes,
                        Array.from(slopes ?? [], (slope, head) => {
                            const length = h('span.bar');
                            length.style.setProperty('width', `${(100 * slope) / most}%`);
                            const onclick = () => this.set({ slice: head, at: null });
                            return h('li', [
                                h('button', { type: 'button', title: `Show head ${head}`, onclick }, [
                                    h('span.head', `head ${head}`),
                                    h('span.track', length),
                                    h('span.slope', digits(slope, 'float32')),
                                ]),
                            ]);
                        }),
                    );
                    const paint = slopes === null ? this.buckets.paint : undefined;
                    this.draw(this.picture, found, { path: kind.path, values: asked, paint });
                },
            )
            .then(() => {
                // What needs no new numbers.
                const bucket = this.place.get('bucket');
                this.buckets.show(bucket === '' ? null : Number(bucket));
                this.figure?.update();
                this.figure?.heatmap?.draw();
            });
    }

    /** @param {Kind} kind @param {Values} values @param {AbortSignal} signal */
    async read(kind, values, signal) {
        const found = await tensors(kind.path, values, { signal });
        if (this.#scheme === FIRST)
            return { found, slopes: (await arrays('/v1/alibi/slopes', this.#slopesOf(values), signal)).data };
        const tensor = found.tensors.values().next().value;
        if (tensor) await this.buckets.read(tensor, signal);
        return { found, slopes: null };
    }

    /** What is asked of the slopes of a bias. @param {Values} values @returns {Values} */
    #slopesOf(values) {
        return texts(values, (name) => SLOPES.includes(name));
    }
}

export const show = opened(Biases, {
    title: 'Biases',
    words: [
        'These schemes leave the vectors alone and add a number to each score of attention, by how far the key is from the query.',
        'ALiBi’s number falls in a straight line, with a slope of its own for each head: steep heads look near, flat ones far.',
        'T5, DeBERTa, Shaw and Swin learn a number for each bucket; a map shows which pairs of tokens share one.',
    ],
    papers: Object.values(KINDS).map(({ path }) => path),
    phrases: [
        ['The first head of ALiBi looks near', { scheme: 'alibi', slice: '0', colours: 'one scale' }],
        ['the last one far', { scheme: 'alibi', slice: '7', colours: 'one scale' }],
        ['T5 puts all keys 91 tokens back and more into bucket 15', { scheme: 't5', bucket: '15' }],
        ['and Shaw those 8 back and more into bucket 0', { scheme: 'shaw', bucket: '0' }],
    ],
    asked: [
        {
            question: 'A model has 16 heads. What is the slope of the first?',
            of: ['/v1/alibi/slopes', { num_heads: '16', dtype: 'float64' }],
        },
        {
            question: 'T5 with 32 buckets and max_distance 128: which bucket has a key 100 tokens before the query?',
            of: ['/v1/t5/buckets', { query_length: '101' }],
            at: 100 * 101,
        },
        {
            question: 'How many rows has the table of biases of a Swin window of 7 × 7?',
            answer: async () => {
                const { data } = await arrays('/v1/swin/index', { window_height: '7', window_width: '7' });
                return 1 + Math.max(...data);
            },
        },
    ],
});
