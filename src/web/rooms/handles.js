// handles.js - lengths on a logarithmic axis of a curve, to be dragged or moved by keys.
import { attribute, h } from '../parts/dom.js';
import { brief } from '../parts/number.js';
import { slider } from '../parts/pointers.js';

const PARTS = 4;

/** The nearest of 1, 1.25, 1.5 and 1.75 times a power of two. @param {number} value */
function round(value) {
    const power = 2 ** Math.floor(Math.log2(value));
    return Math.max(1, Math.round((power * Math.round((value / power) * PARTS)) / PARTS));
}

/** The next or the previous of these. @param {number} value @param {number} by */
function next(value, by) {
    const power = 2 ** Math.floor(Math.log2(by > 0 ? value : value - 1e-9));
    return Math.max(1, Math.round(round(value) + (by * power) / PARTS));
}

const [MORE, LESS] = [1, -1].map((by) => /** @param {number} value */ (value) => next(value, by));
/** @type {Record<string, (value: number) => number>} */
const STEPS = {
    ...{ ArrowUp: MORE, ArrowRight: MORE, ArrowDown: LESS, ArrowLeft: LESS },
    PageUp: (value) => 2 * value,
    PageDown: (value) => Math.round(value / 2),
};

export class Handles {
    /** @param {import('../parts/curve.js').Curve} curve @param {string[]} names
     * @param {(i: number, value: number, done: boolean) => void} change one is moved */
    constructor(curve, names, change) {
        this.curve = curve;
        /** @private */ this.values = names.map(() => 1);
        const { picture } = curve;
        const ends = { 'aria-orientation': 'vertical', 'aria-valuemin': 1, 'aria-valuemax': 1e12 };
        this.elements = names.map((name, i) =>
            slider(h('div.handle'), { 'aria-label': name, ...ends }, STEPS, {
                key: (to) => change(i, to(this.values[i]), true),
                move: ({ clientY }) =>
                    change(i, round(curve.y.invert(clientY - picture.getBoundingClientRect().top)), false),
                end: () => change(i, this.values[i], true),
            }),
        );
        // The curve below is pointed at all the same.
        for (const element of this.elements)
            element.addEventListener('pointermove', (event) => {
                if (event.buttons === 0) picture.dispatchEvent(new PointerEvent('pointermove', event));
            });
        curve.element.classList.add('with-handles');
        curve.element.append(...this.elements);
    }

    /** @param {number[]} values */
    show(values) {
        this.values = values;
        this.elements.forEach((element, i) =>
            attribute(element, { 'aria-valuenow': values[i], 'aria-valuetext': `${brief(values[i])} tokens` }),
        );
        this.place();
    }

    /** Put them where the axis has their values. */
    place() {
        this.elements.forEach((element, i) => {
            const y = this.curve.y(this.values[i]);
            element.hidden = !Number.isFinite(y);
            element.style.setProperty('top', `${y}px`);
            element.textContent = `${element.getAttribute('aria-label')} ${brief(this.values[i])}`;
        });
    }
}
