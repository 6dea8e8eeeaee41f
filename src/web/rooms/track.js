// track.js - two positions on an axis: a handle for each, and one that moves both.
import { attribute, field, fresh, h } from '../parts/dom.js';
import { brief } from '../parts/number.js';
import { slider } from '../parts/pointers.js';

/** @typedef {'m' | 'n' | 'both'} Which */

const LEAST = 64;
const TICKS = 8;
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** A field for a position. @param {'m' | 'n'} which @param {(to: number) => void} change */
function fieldOf(which, change) {
    const id = fresh(which);
    const input = field('number', { id, inputmode: 'numeric' });
    input.addEventListener('change', () => {
        const to = Number(input.value.replace(/[\s\u202f]/g, ''));
        if (Number.isSafeInteger(to)) change(to);
    });
    return { which, input, element: h('label', { for: id }, `${which} = `, input) };
}

export class Track {
    /** @param {(m: number, n: number, done: boolean) => void} change */
    constructor(change) {
        this.change = change;
        /** @private */ this.m = 0;
        /** @private */ this.n = 0;
        /** @private */ this.top = LEAST;
        /** What is held: where the pointer took it, and the place it had there.
         * @private @type {{x: number, at: number, step: number} | null} */
        this.held = null;
        this.ticks = h('div.track-ticks', { 'aria-hidden': 'true' });
        this.knobs = /** @type {const} */ (['m', 'n', 'both']).map((which) => this.#handle(which));
        this.line = h(
            'div.track-line',
            this.ticks,
            this.knobs.map(({ element }) => element),
        );
        this.fields = [fieldOf('m', (to) => change(to, this.n, true)), fieldOf('n', (to) => change(this.m, to, true))];
        const fields = this.fields.map(({ element }) => element);
        this.element = h('div.track', this.line, h('div.track-fields.panel', fields));
    }

    /** Move one or both by a distance, never below 0. @param {Which} which @param {number} by @param {boolean} done */
    #move(which, by, done) {
        const { m, n } = this;
        const step = Math.max(-this.#least(which), by);
        this.change(which === 'n' ? m : m + step, which === 'm' ? n : n + step, done);
    }

    /** The lower end of what a handle moves. @param {Which} which */
    #least(which) {
        return which === 'both' ? Math.min(this.m, this.n) : this[which];
    }

    /** The middle of the two is what "both" stands at. @param {Which} which */
    #value(which) {
        return which === 'both' ? (this.m + this.n) / 2 : this[which];
    }

    /** @param {Which} which */
    #handle(which) {
        const name = which === 'both' ? 'move m and n together' : `position ${which}`;
        const knob = h('div', { class: `knob knob-${which}` }, h('span', which));
        const element = slider(knob, { 'aria-label': name, 'aria-valuemin': 0 }, STEPS, {
            key: (by) => this.#move(which, by, true),
            begin: ({ clientX: x }) => {
                this.held = { x, at: this.#value(which), step: this.top / this.line.clientWidth };
            },
            move: ({ clientX }) => this.#drag(which, clientX),
            end: () => this.#release(),
        });
        return { which, element };
    }

    /** @param {Which} which @param {number} x */
    #drag(which, x) {
        if (this.held === null) return;
        const to = Math.min(this.top, this.held.at + (x - this.held.x) * this.held.step);
        const by = Math.round(to - this.#value(which));
        if (by !== 0) this.#move(which, by, false);
    }

    #release() {
        if (this.held !== null) this.change(this.m, this.n, true);
        this.held = null;
        this.show(this.m, this.n);
    }

    /** The axis ends at a power of two, and keeps its end while something is dragged. */
    #scale() {
        if (this.held !== null) return;
        this.top = Math.max(LEAST, 2 ** Math.ceil(Math.log2(Math.max(this.m, this.n, 1))));
        this.ticks.replaceChildren(
            ...Array.from({ length: TICKS + 1 }, (_, i) => {
                const tick = h('span', brief((this.top * i) / TICKS));
                tick.style.setProperty('left', `${(100 * i) / TICKS}%`);
                return tick;
            }),
        );
    }

    /** @param {number} m @param {number} n */
    show(m, n) {
        [this.m, this.n] = [m, n];
        this.#scale();
        for (const { which, element } of this.knobs) {
            const both = which === 'both';
            element.style.setProperty('left', `${(100 * this.#least(which)) / this.top}%`);
            if (both) element.style.setProperty('width', `${(100 * Math.abs(m - n)) / this.top}%`);
            const told = both ? `m ${m}, n ${n}, distance ${m - n}` : null;
            const now = { 'aria-valuenow': this.#value(which), 'aria-valuemax': Math.max(this.top, m, n) };
            attribute(element, { ...now, 'aria-valuetext': told });
        }
        for (const { which, input } of this.fields) input.value = String(this.#value(which));
    }
}
