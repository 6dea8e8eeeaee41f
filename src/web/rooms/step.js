// step.js - a step of k positions is one rotation: M_k takes PE(pos) to PE(pos + k), wherever it starts.
import { tensors } from '../parts/api.js';
import { form } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { call, formula, sub } from '../parts/formula.js';
import { Latest, complaint, numbers, section, split } from '../parts/latest.js';
import { find } from '../parts/listing.js';
import { brief, digits } from '../parts/number.js';
import { exercises, story } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { Circles, apart, multiplied, spread } from './landing.js';

/** @typedef {import('./rooms.js').Context} Context */

const RESOURCE = 'sinusoidal/offset';
const CIRCLES = 6;
const TRAVEL = 40;
/** @type {Record<string, string>} */
const USUAL = { pos: '5', k: '7', d_model: '64', base: '10000' };

/** @type {import('../parts/listing.js').Parameter[]} */
const FIELDS = [
    { name: 'pos', type: 'integer', required: true, minimum: 0, maximum: 1024, description: 'Where the step starts.' },
    { name: 'k', type: 'integer', required: true, minimum: -128, maximum: 128, description: 'How far it goes.' },
];

const WORDS = [
    'Two numbers of a pair are a point on a circle, and a step of k positions turns it by the same angle wherever it starts.',
    'So one matrix Mₖ takes every position to the one k further on, and a model can learn to look k tokens back.',
    'The fast pairs turn far, and the slow ones hardly at all.',
];

class Step {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, { place, listing }) {
        this.place = place;
        const own = find(listing, RESOURCE)?.parameters.filter(({ name }) => name in USUAL) ?? [];
        this.controls = form([...FIELDS, ...own], (name, value, done) => {
            place.set({ [name]: value === USUAL[name] ? null : value }, { step: done });
            this.update();
        });
        this.circles = new Circles();
        this.verdict = h('p', { class: 'landing', role: 'status' });
        this.fault = complaint();
        this.asks = { turn: new Latest((error) => this.controls.fail(error)), path: new Latest(this.fault.show) };
        host.replaceChildren(
            story('Steps: one rotation', WORDS, [find(listing, RESOURCE)]),
            split([this.controls.element], this.turning()),
            exercises([
                {
                    question:
                        'd_model is 64. Mₖ has a block for each pair. For k = 7, what is the first number of pair 0’s block?',
                    of: ['/v1/sinusoidal/offset', { d_model: '64', offset: '7', dtype: 'float64' }],
                },
            ]),
        );
        this.update();
    }

    /** @private */
    turning() {
        const head = formula(sub('M', 'k'), '·', call('PE', 'pos'), '=', call('PE', 'pos', '+', 'k'));
        return section(
            this.place,
            {
                name: 'turn',
                title: 'Mₖ · PE(pos) = PE(pos + k)',
                head,
                lead: 'The dot is where Mₖ takes the pair, the ring is where PE(pos + k) stands. The matrices and the encodings are the server’s.',
                first: true,
                source: () => {
                    const { pos: _, k, ...width } = this.values();
                    const shape = [Number(width.d_model) / 2, 2, 2];
                    return plain('/v1/sinusoidal/offset', { ...width, offset: String(k) }, undefined, shape);
                },
            },
            h('button', { type: 'button', class: 'watch', onclick: () => void this.travel() }, 'Watch it turn'),
            this.fault.element,
            this.circles.element,
            this.verdict,
        );
    }

    /** @private */
    values() {
        const [d_model, base] = ['d_model', 'base'].map((name) => this.place.get(name, USUAL[name]));
        const [pos, k] = ['pos', 'k'].map((name) => Math.round(this.place.number(name, Number(USUAL[name]))));
        return { d_model, base, dtype: /** @type {const} */ ('float64'), pos, k };
    }

    update() {
        const { pos, k, ...width } = this.values();
        this.controls.show({ ...USUAL, ...this.place.all() }, USUAL);
        void this.asks.turn.ask(
            [pos, k, width],
            async (signal) => {
                const [rows, offset] = await Promise.all([
                    tensors('/v1/sinusoidal', { ...width, positions: `${pos},${pos + k}` }, { signal }),
                    tensors('/v1/sinusoidal/offset', { ...width, offset: String(k) }, { signal }),
                ]);
                const [both, matrices] = [await numbers(rows), await numbers(offset, undefined, signal)];
                const from = both.slice(0, both.length / 2);
                const to = both.slice(both.length / 2);
                return { from, to, matrices, product: multiplied(matrices, from) };
            },
            (found) => {
                const { from, to, product } = found;
                this.circles.show({ ...found, pairs: spread(from.length / 2, CIRCLES) });
                this.verdict.textContent = `From position ${brief(pos)} to ${brief(pos + k)}: the largest distance between the ${from.length} channels of Mₖ · PE(pos) and of PE(pos + k) is ${digits(Number(apart(product, to).toPrecision(3)), 'float64')}.`;
            },
        );
    }

    /** Show every position between, as the server has it. @private */
    async travel() {
        const { pos, k, ...width } = this.values();
        if (matchMedia('(prefers-reduced-motion: reduce)').matches)
            return this.fault.show(
                new Error('Your system asks for less motion: the dots stand at the end of the turn.'),
            );
        const all = Array.from({ length: TRAVEL + 1 }, (_, i) => Number((pos + (i * k) / TRAVEL).toPrecision(12)));
        this.asks.path.stop();
        await this.asks.path.ask(
            [pos, k],
            async (signal) =>
                numbers(await tensors('/v1/sinusoidal', { ...width, positions: all.join(',') }, { signal })),
            (path) => {
                const n = path.length / all.length;
                let i = 0;
                const next = () => {
                    this.circles.put(path.slice(i * n, (i + 1) * n));
                    if (i++ < TRAVEL) requestAnimationFrame(next);
                };
                next();
            },
        );
    }

    stop() {
        for (const ask of Object.values(this.asks)) ask.stop();
    }
}

/** @param {HTMLElement} host @param {Context} context @returns {import('./rooms.js').Shown} */
export const show = (host, context) => new Step(host, context);
