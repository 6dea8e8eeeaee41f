// track.js - two positions on an axis: a handle for each, and one that moves both.
import { fresh, h } from '../parts/dom.js';
import { brief } from '../parts/number.js';

/** @typedef {'m' | 'n' | 'both'} Which */

const LEAST = 64;
const TICKS = 8;
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

/** @param {(m: number, n: number, done: boolean) => void} change */
export function track(change) {
    let [m, n, top] = [0, 0, LEAST];
    const ticks = h('div', { class: 'track-ticks', 'aria-hidden': 'true' });
    const line = h('div', { class: 'track-line' }, ticks);
    const handles = /** @type {const} */ (['m', 'n', 'both']).map(handle);
    const fields = /** @type {const} */ (['m', 'n']).map(field);
    line.append(...handles.map(({ element }) => element));
    const element = h(
        'div',
        { class: 'track' },
        line,
        h('div', { class: 'track-fields panel' }, ...fields.map(({ element }) => element)),
    );

    /** Move one or both by a distance, never below 0. @param {Which} which @param {number} by @param {boolean} done */
    function move(which, by, done) {
        const least = which === 'both' ? Math.min(m, n) : which === 'm' ? m : n;
        const step = Math.max(-least, by);
        change(which === 'n' ? m : m + step, which === 'm' ? n : n + step, done);
    }

    /** The middle of the two is what "both" stands at. @param {Which} which */
    const value = (which) => (which === 'both' ? (m + n) / 2 : which === 'm' ? m : n);

    /** @param {Which} which */
    function handle(which) {
        const knob = h(
            'div',
            {
                class: `knob knob-${which}`,
                role: 'slider',
                tabindex: 0,
                'aria-label': which === 'both' ? 'move m and n together' : `position ${which}`,
                'aria-valuemin': 0,
            },
            h('span', {}, which),
        );
        /** Where the pointer took hold, and the place it had there. @type {{x: number, at: number, step: number} | null} */
        let held = null;
        knob.addEventListener('keydown', (event) => {
            const by = STEPS[/** @type {keyof typeof STEPS} */ (event.key)];
            if (by === undefined) return;
            event.preventDefault();
            move(which, by, true);
        });
        knob.addEventListener('pointerdown', (event) => {
            knob.setPointerCapture(event.pointerId);
            held = { x: event.clientX, at: value(which), step: top / line.clientWidth };
        });
        knob.addEventListener('pointermove', (event) => {
            if (held === null) return;
            const to = Math.min(top, held.at + (event.clientX - held.x) * held.step);
            const by = Math.round(to - value(which));
            if (by !== 0) move(which, by, false);
        });
        knob.addEventListener('pointerup', () => {
            if (held !== null) change(m, n, true);
            held = null;
            show(m, n);
        });
        return { which, element: knob, held: () => held !== null };
    }

    /** @param {'m' | 'n'} which */
    function field(which) {
        const id = fresh(which);
        const input = h('input', { id, type: 'text', inputmode: 'numeric', autocomplete: 'off', class: 'number' });
        input.addEventListener('change', () => {
            const to = Number(input.value.replace(/[\s\u202f]/g, ''));
            if (Number.isSafeInteger(to)) change(which === 'm' ? to : m, which === 'n' ? to : n, true);
        });
        return { which, input, element: h('label', { for: id }, `${which} = `, input) };
    }

    /** The axis ends at a power of two, and keeps its end while something is dragged. */
    function scale() {
        if (handles.some(({ held }) => held())) return;
        top = Math.max(LEAST, 2 ** Math.ceil(Math.log2(Math.max(m, n, 1))));
        ticks.replaceChildren(
            ...Array.from({ length: TICKS + 1 }, (_, i) => {
                const tick = h('span', {}, brief((top * i) / TICKS));
                tick.style.setProperty('left', `${(100 * i) / TICKS}%`);
                return tick;
            }),
        );
    }

    /** @param {number} newM @param {number} newN */
    function show(newM, newN) {
        [m, n] = [newM, newN];
        scale();
        for (const { which, element: knob } of handles) {
            const at = which === 'both' ? Math.min(m, n) : value(which);
            knob.style.setProperty('left', `${(100 * at) / top}%`);
            if (which === 'both') knob.style.setProperty('width', `${(100 * Math.abs(m - n)) / top}%`);
            knob.setAttribute('aria-valuemax', String(Math.max(top, m, n)));
            knob.setAttribute('aria-valuenow', String(value(which)));
            if (which === 'both') knob.setAttribute('aria-valuetext', `m ${m}, n ${n}, distance ${m - n}`);
        }
        for (const { which, input } of fields) input.value = String(value(which));
    }

    return { element, show };
}
