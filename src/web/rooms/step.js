// step.js - a step of k positions is one rotation: M_k takes PE(pos) to PE(pos + k), wherever it starts.
import { arrays } from '../parts/api.js';
import { fields, form } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { call, formula, sub } from '../parts/formula.js';
import { complaint, split } from '../parts/latest.js';
import { brief, digits } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { exercises, story } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { Circles, apart, multiplied, spread } from './landing.js';

/** @import { Context } from './rooms.js' */

const CIRCLES = 6;
const TRAVEL = 40;
/** @type {Record<string, string>} */
const USUAL = { pos: '5', k: '7', d_model: '64', base: '10000' };

const FIELDS = fields([
    ['pos', 'integer', 'Where the step starts.', '', 0, 1024],
    ['k', 'integer', 'How far it goes.', '', -128, 128],
]);

const WORDS = [
    'Two numbers of a pair are a point on a circle, and a step of k positions turns it by the same angle wherever it starts.',
    'So one matrix Mₖ takes every position to the one k further on, and a model can learn to look k tokens back.',
    'The fast pairs turn far, and the slow ones hardly at all.',
];

class Step extends Room {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, context) {
        super(context, USUAL);
        const [resource] = this.resources('sinusoidal/offset');
        const own = resource?.parameters.filter(({ name }) => name in USUAL) ?? [];
        this.controls = form([...FIELDS, ...own], (name, value, done) => this.set({ [name]: value }, done));
        this.circles = new Circles();
        this.verdict = h('p.landing', { role: 'status' });
        this.fault = complaint();
        this.questions = { turn: this.asks((error) => this.controls.fail(error)), path: this.asks(this.fault.show) };
        host.replaceChildren(
            story('Steps: one rotation', WORDS, [resource]),
            split([this.controls.element], this.#turning()),
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

    #turning() {
        const head = formula(sub('M', 'k'), '·', call('PE', 'pos'), '=', call('PE', 'pos', '+', 'k'));
        const lead =
            'The dot is where Mₖ takes the pair, the ring is where PE(pos + k) stands. The matrices and the encodings are the server’s.';
        const source = () => {
            const { pos: _, k, ...width } = this.#values();
            const shape = [Number(width.d_model) / 2, 2, 2];
            return plain('/v1/sinusoidal/offset', { ...width, offset: String(k) }, undefined, shape);
        };
        return this.section('turn', 'Mₖ · PE(pos) = PE(pos + k)', { head, lead, first: true, source }, [
            h('button.watch', { type: 'button', onclick: () => void this.#travel() }, 'Watch it turn'),
            this.fault.element,
            this.circles.element,
            this.verdict,
        ]);
    }

    #values() {
        const [d_model, base] = ['d_model', 'base'].map((name) => this.get(name));
        const [pos, k] = ['pos', 'k'].map((name) => Math.round(this.place.number(name, Number(USUAL[name]))));
        return { d_model, base, dtype: /** @type {const} */ ('float64'), pos, k };
    }

    update() {
        const { pos, k, ...width } = this.#values();
        this.controls.show({ ...USUAL, ...this.place.all() }, USUAL);
        void this.questions.turn.ask(
            [pos, k, width],
            async (signal) => {
                const [{ data: both }, { data: matrices }] = await Promise.all([
                    arrays('/v1/sinusoidal', { ...width, positions: `${pos},${pos + k}` }, signal),
                    arrays('/v1/sinusoidal/offset', { ...width, offset: String(k) }, signal),
                ]);
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

    /** Show every position between, as the server has it. */
    async #travel() {
        const { pos, k, ...width } = this.#values();
        if (matchMedia('(prefers-reduced-motion: reduce)').matches)
            return this.fault.show(
                new Error('Your system asks for less motion: the dots stand at the end of the turn.'),
            );
        const all = Array.from({ length: TRAVEL + 1 }, (_, i) => Number((pos + (i * k) / TRAVEL).toPrecision(12)));
        this.questions.path.stop();
        await this.questions.path.ask(
            [pos, k],
            (signal) => arrays('/v1/sinusoidal', { ...width, positions: all.join(',') }, signal),
            ({ data: path }) => {
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
}

export const show = opened(Step);
