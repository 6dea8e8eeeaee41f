// biases.js - what is added to the scores of attention by distance: ALiBi's slopes, and maps of buckets.
import { tensors } from '../parts/api.js';
import { choice, form } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { formula, power, row } from '../parts/formula.js';
import { numbers, split } from '../parts/latest.js';
import { digits } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { exercises, note, story } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { Buckets } from './buckets.js';

/** @import { Context } from './rooms.js' */

/** @typedef {Record<string, string>} Values */
/** @typedef {'/v1/alibi/bias' | '/v1/t5/buckets' | '/v1/shaw/indices' | '/v1/swin/index'} Path */
/** @template {Path} P @typedef {import('../parts/api.js').Asked<P>} Asked */
/** @template {Path} P @typedef {{title: string, path: P, names: readonly (keyof Asked<P>)[], values: Asked<P>, fixed?: Asked<P>}} Of */
/** @typedef {{[P in Path]: Of<P>}[Path]} Kind */

const BUCKETS = /** @type {const} */ (['query_length', 'key_length', 'num_buckets', 'max_distance']);
const LENGTHS = { query_length: '160', num_buckets: '32', max_distance: '128' };

/** @type {Record<string, Kind>} */
const KINDS = {
    alibi: {
        title: 'ALiBi',
        path: '/v1/alibi/bias',
        names: ['num_heads', 'query_length', 'form', 'variant', 'alibi_bias_max'],
        values: { num_heads: '8', query_length: '32' },
    },
    t5: { title: 'T5', path: '/v1/t5/buckets', names: [...BUCKETS, 'bidirectional'], values: LENGTHS },
    deberta: {
        title: 'DeBERTa',
        path: '/v1/t5/buckets',
        names: BUCKETS,
        values: LENGTHS,
        fixed: { variant: 'deberta' },
    },
    shaw: {
        title: 'Shaw',
        path: '/v1/shaw/indices',
        names: ['query_length', 'key_length', 'max_relative_position', 'left_max', 'right_max'],
        values: { query_length: '32', max_relative_position: '8' },
    },
    swin: {
        title: 'Swin',
        path: '/v1/swin/index',
        names: ['window_height', 'window_width'],
        values: { window_height: '7', window_width: '7' },
    },
};
const FIRST = 'alibi';
const OWN = ['slice', 'win', 'at', 'bucket', 'colours'];
// The third form of ALiBi has one row a head, which is no map.
const FORMS = ['symmetric', 'causal'];

const WORDS = [
    'These schemes leave the vectors alone and add a number to each score of attention, by how far the key is from the query.',
    'ALiBi’s number falls in a straight line, with a slope of its own for each head: steep heads look near, flat ones far.',
    'T5, DeBERTa, Shaw and Swin learn a number for each bucket; a map shows which pairs of tokens share one.',
];

class Biases extends Room {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, context) {
        super(context, { scheme: FIRST, slice: '0' });
        /** @private @type {ReturnType<typeof form> | null} */ this.controls = null;
        this.formOf = '';
        this.panel = h('div');
        this.picture = h('div.picture', { 'aria-busy': true });
        this.slopes = h('ol.bars');
        this.buckets = new Buckets((bucket) => this.set({ bucket }));
        const kinds = Object.entries(KINDS);
        this.kind = choice(
            'scheme',
            kinds.map(([name]) => name),
            (name) => this.#choose(name),
        );
        for (const input of this.kind.element.querySelectorAll('input'))
            if (input.nextElementSibling) input.nextElementSibling.textContent = KINDS[input.value].title;
        this.ask = this.asks((error) => {
            this.controls?.fail(error);
            if (error !== null) this.picture.removeAttribute('aria-busy');
        });
        this.#fill(host);
        this.update();
    }

    /** @param {HTMLElement} host */
    #fill(host) {
        const source = () => plain('/v1/alibi/slopes', this.#slopesOf(this.#values()));
        this.slopesPart = h('div', this.section('slopes', 'Slopes', { source }, this.slopes));
        this.bucketsPart = h('div', this.buckets.element, this.buckets.words);
        host.replaceChildren(
            story('Biases', WORDS, this.resources(...Object.values(KINDS).map(({ path }) => path))),
            split(
                [this.kind.element, this.panel],
                this.slopesPart,
                this.section('map', 'Maps of query and key', { first: true }, this.bucketsPart, this.picture),
            ),
            this.#words(),
        );
    }

    #words() {
        const third = h('span', '…');
        const variants = /** @type {const} */ (['press', 'formula']);
        Promise.all(
            variants.map(async (variant) => numbers(await tensors('/v1/alibi/slopes', { num_heads: '12', variant }))),
        )
            .then(([press, formula]) => {
                third.textContent = `${digits(press[8], 'float32')}, not ${digits(formula[8], 'float32')}`;
            })
            .catch(() => undefined); // The line says that the server is away.
        return exercises(
            [
                {
                    question: 'A model has 16 heads. What is the slope of the first?',
                    of: ['/v1/alibi/slopes', { num_heads: '16' }],
                },
                {
                    question:
                        'T5 with 32 buckets and max_distance 128: which bucket has a key 100 tokens before the query?',
                    of: ['/v1/t5/buckets', { query_length: '101' }],
                    at: 100 * 101,
                },
                {
                    question: 'How many rows has the table of biases of a Swin window of 7 × 7?',
                    answer: async () => {
                        const index = await tensors('/v1/swin/index', { window_height: '7', window_width: '7' });
                        return 1 + Math.max(...(await numbers(index)));
                    },
                },
            ],
            note(
                'Some texts give every number of heads the slopes ',
                formula(power(2, row('−', 8, 'h', '/', 'H'))),
                '. The published rule says so for powers of two only: of 12 heads, the ninth has ',
                third,
                '.',
            ),
        );
    }

    /** Another scheme: its parameters begin anew. @param {string} name */
    #choose(name) {
        const old = [...Object.values(KINDS).flatMap(({ names }) => names), ...OWN];
        this.set({ ...Object.fromEntries(old.map((each) => [each, null])), scheme: name });
    }

    get #scheme() {
        const name = this.place.get('scheme', FIRST);
        return name in KINDS ? name : FIRST;
    }

    /** Controls of the scheme. @param {Kind} kind */
    #prepare(kind) {
        if (this.formOf === this.#scheme) return;
        this.formOf = this.#scheme;
        /** @type {readonly string[]} */
        const names = kind.names;
        const rows = (this.resources(kind.path)[0]?.parameters ?? [])
            .filter(({ name }) => names.includes(name))
            .map((row) => (row.name === 'form' ? { ...row, choices: FORMS } : row));
        const begin = { win: null, at: null, slice: null, bucket: null };
        this.controls = form(rows, (name, value, done) => this.set({ [name]: value, ...(done ? begin : {}) }, done));
        this.panel.replaceChildren(this.controls.element);
    }

    /** @returns {Values} */
    #values() {
        const { names, values } = KINDS[this.#scheme];
        return { ...values, ...this.chosen(names) };
    }

    update() {
        const kind = KINDS[this.#scheme];
        this.#prepare(kind);
        const values = this.#values();
        this.kind.show(this.#scheme);
        this.controls?.show(values, kind.values);
        const asked = { ...values, ...kind.fixed };
        void this.ask
            .ask(
                [kind.path, asked],
                (signal) => this.read(kind, asked, signal),
                (found) => this.#show(kind, asked, found),
            )
            .then(() => this.#follow());
    }

    /** @param {Kind} kind @param {Values} values @param {AbortSignal} signal */
    async read(kind, values, signal) {
        const found = await tensors(kind.path, values, { signal });
        if (this.#scheme === FIRST) {
            const own = await tensors('/v1/alibi/slopes', this.#slopesOf(values), { signal });
            return { found, slopes: await numbers(own, undefined, signal) };
        }
        const tensor = found.tensors.values().next().value;
        if (tensor) await this.buckets.read(tensor, signal);
        return { found, slopes: null };
    }

    /** @param {Kind} kind @param {Values} values @param {Awaited<ReturnType<Biases['read']>>} read */
    #show(kind, values, { found, slopes }) {
        if (this.slopesPart) this.slopesPart.hidden = slopes === null;
        if (this.bucketsPart) this.bucketsPart.hidden = slopes !== null;
        this.#bars(slopes ?? []);
        const paint = slopes === null ? this.buckets.paint : undefined;
        this.draw(this.picture, found, { path: kind.path, values, paint });
    }

    /** What needs no new numbers. */
    #follow() {
        const bucket = this.place.get('bucket');
        this.buckets.show(bucket === '' ? null : Number(bucket));
        this.figure?.update();
        this.figure?.repaint();
    }

    /** What is asked of the slopes of a bias. @param {Values} values @returns {Values} */
    #slopesOf({ num_heads, variant, alibi_bias_max }) {
        const own = Object.entries({ num_heads, variant, alibi_bias_max });
        return Object.fromEntries(own.filter(([, value]) => value !== undefined));
    }

    /** @param {ArrayLike<number>} slopes */
    #bars(slopes) {
        const most = Math.max(...Array.from(slopes));
        this.slopes.replaceChildren(
            ...Array.from(slopes, (slope, head) => {
                const bar = h('span.bar');
                bar.style.setProperty('width', `${(100 * slope) / most}%`);
                const told = digits(slope, 'float32');
                const onclick = () => this.set({ slice: head, at: null });
                return h('li', [
                    h('button', { type: 'button', 'aria-label': `Show head ${head}, slope ${told}`, onclick }, [
                        h('span.head', `head ${head}`),
                        h('span.track', bar),
                        h('span.slope', told),
                    ]),
                ]);
            }),
        );
    }
}

export const show = opened(Biases);
