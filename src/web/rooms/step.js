// step.js - a step of k positions is one rotation: M_k takes PE(pos) to PE(pos + k), wherever it starts.
import { arrays } from '../parts/api.js';
import { fields } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { call, formula, sub } from '../parts/formula.js';
import { brief, digits } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { plain } from '../parts/take.js';
import { Circles, apart, multiplied, spread } from './landing.js';

const CIRCLES = 6;
const TRAVEL = 40;
const FIELDS = fields([
    ['pos', 'integer', 'Where the step starts.', '', 0, 1024],
    ['k', 'integer', 'How far it goes.', '', -128, 128],
]);

const LEAD =
    'The dot is where Mₖ takes the pair, the ring is where PE(pos + k) stands. The matrices and the encodings are the server’s.';
const STILL = 'Your system asks for less motion: the dots stand at the end of the turn.';

class Step extends Room {
    usual = { pos: '5', k: '7', d_model: '64', base: '10000' };
    controls = this.form([...FIELDS, ...this.rows('sinusoidal/offset', Object.keys(this.usual))]);
    circles = new Circles();
    verdict = h('p.landing', { role: 'status' });
    turn = this.asks(this.controls.fail);
    path = this.asks(this.fault.show);

    layout() {
        const head = formula(sub('M', 'k'), '·', call('PE', 'pos'), '=', call('PE', 'pos', '+', 'k'));
        const source = () => {
            const { pos: _, k, ...width } = this.#values();
            const shape = [Number(width.d_model) / 2, 2, 2];
            return plain('/v1/sinusoidal/offset', { ...width, offset: String(k) }, undefined, shape);
        };
        const how = { head, lead: LEAD, first: true, source };
        const turning = this.section('turn', 'Mₖ · PE(pos) = PE(pos + k)', how, [
            h('button.watch', { type: 'button', onclick: () => void this.#travel() }, 'Watch it turn'),
            this.fault.element,
            this.circles.element,
            this.verdict,
        ]);
        return [this.split([this.controls.element], turning)];
    }

    #values() {
        const [d_model, base] = ['d_model', 'base'].map((name) => this.get(name));
        const { pos, k } = this.usual;
        const [from, by] = Object.entries({ pos, k }).map(([name, usual]) => this.place.number(name, Number(usual)));
        return { d_model, base, dtype: /** @type {const} */ ('float64'), pos: Math.round(from), k: Math.round(by) };
    }

    load() {
        const { pos, k, ...width } = this.#values();
        void this.turn.ask(
            [pos, k, width],
            async (signal) => {
                const [{ data: both }, { data: matrices }] = await Promise.all([
                    arrays('/v1/sinusoidal', { ...width, positions: `${pos},${pos + k}` }, signal),
                    arrays('/v1/sinusoidal/offset', { ...width, offset: String(k) }, signal),
                ]);
                const from = both.slice(0, both.length / 2);
                return { from, to: both.slice(from.length), matrices, product: multiplied(matrices, from) };
            },
            (found) => {
                const { from, to, product } = found;
                this.circles.show({ ...found, pairs: spread(from.length / 2, CIRCLES) });
                this.verdict.textContent = `From position ${brief(pos)} to ${brief(pos + k)}: the largest distance between the ${from.length} channels of Mₖ · PE(pos) and of PE(pos + k) is ${digits(Number(apart(product, to).toPrecision(3)))}.`;
            },
        );
    }

    /** Show every position between, as the server has it. */
    async #travel() {
        const { pos, k, ...width } = this.#values();
        if (matchMedia('(prefers-reduced-motion: reduce)').matches) return this.fault.show(new Error(STILL));
        const all = Array.from({ length: TRAVEL + 1 }, (_, i) => Number((pos + (i * k) / TRAVEL).toPrecision(12)));
        this.path.stop();
        await this.path.ask(
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

export const show = opened(Step, {
    title: 'Steps: one rotation',
    words: [
        'Two numbers of a pair are a point on a circle, and a step of k positions turns it by the same angle wherever it starts.',
        'So one matrix Mₖ takes every position to the one k further on, and a model can learn to look k tokens back.',
        'The fast pairs turn far, and the slow ones hardly at all.',
    ],
    papers: ['sinusoidal/offset'],
    phrases: [
        ['A step of one position turns the fast pairs alone', { k: '1' }],
        ['a step of 100 turns those in the middle, too', { k: '100' }],
        ['from position 1000 it is the same turn', { pos: '1000', k: '100' }],
        ['and it goes back', { pos: '1000', k: '-100' }],
    ],
    asked: [
        {
            question:
                'd_model is 64. Mₖ has a block for each pair. For k = 7, what is the first number of pair 0’s block?',
            of: ['/v1/sinusoidal/offset', { d_model: '64', offset: '7', dtype: 'float64' }],
        },
    ],
});
