// pointers.js - hands and keys on a picture or a handle: point, drag, wheel, pinch, arrows.
import { attribute } from './dom.js';

/** places and distances are in CSS pixels of the element @typedef {{point: (x: number, y: number, done: boolean) =>
 * void, pan: (dx: number, dy: number) => void, zoom: (factor: number, x: number, y: number) => void, hover: (x:
 * number, y: number) => void, leave: () => void}} Acts */

const STILL = 4;

/** The wheel zooms where the picture has the focus, or with Ctrl; else the page scrolls.
 * @param {HTMLElement} element @param {Acts} acts */
export function pointers(element, acts) {
    /** @type {Map<number, {x: number, y: number}>} */
    const down = new Map();
    let moved = 0;
    const at = /** @param {MouseEvent} event */ (event) => {
        const box = element.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    const spread = () => {
        const [a, b] = [...down.values()];
        return { size: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    };
    element.addEventListener('pointerdown', (event) => {
        element.setPointerCapture(event.pointerId);
        down.set(event.pointerId, at(event));
        moved = 0;
    });
    element.addEventListener('pointermove', (event) => {
        const now = at(event);
        const old = down.get(event.pointerId);
        if (old === undefined) return acts.hover(now.x, now.y);
        moved += Math.hypot(now.x - old.x, now.y - old.y);
        if (down.size === 2) {
            const before = spread();
            down.set(event.pointerId, now);
            const after = spread();
            acts.zoom(before.size / Math.max(1, after.size), after.x, after.y);
            acts.pan(after.x - before.x, after.y - before.y);
            return;
        }
        down.set(event.pointerId, now);
        if (moved > STILL) acts.pan(now.x - old.x, now.y - old.y);
    });
    element.addEventListener('pointerup', (event) => {
        const now = at(event);
        down.delete(event.pointerId);
        if (moved <= STILL) acts.point(now.x, now.y, true);
    });
    element.addEventListener('pointerleave', () => acts.leave());
    element.addEventListener('pointercancel', (event) => down.delete(event.pointerId));
    element.addEventListener(
        'wheel',
        (event) => {
            if (document.activeElement !== element && !event.ctrlKey) return;
            event.preventDefault();
            const { x, y } = at(event);
            acts.zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), x, y);
        },
        { passive: false },
    );
}

/** What is held and moved. `begin` may refuse by false. @param {Element} element
 * @param {{begin?: (event: PointerEvent) => boolean | void, move: (event: PointerEvent) => void, end: () => void}} acts
 * */
export function drag(element, { begin, move, end }) {
    let held = -1;
    const on = /** @param {string} name @param {(event: PointerEvent) => void} act */ (name, act) =>
        element.addEventListener(name, /** @type {EventListener} */ (act));
    const release = () => {
        if (held >= 0) end();
        held = -1;
    };
    on('pointerdown', (event) => {
        if (begin?.(event) === false) return;
        held = event.pointerId;
        element.setPointerCapture(held);
    });
    on('pointermove', (event) => {
        if (event.pointerId === held) move(event);
    });
    on('pointerup', release);
    on('pointercancel', release);
}

/** Arrows as columns and rows. @type {Record<string, [number, number]>} */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const FAR = 1e9;
/** The same, and to both ends. @type {Record<string, [number, number]>} */
const STEPS = { ...ARROWS, Home: [-FAR, 0], End: [FAR, 0] };
/** Along a line, and to its ends. */
export const ALONG = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/** What keys do; those that are not named are left to the browser. @template T @param {Element} element
 * @param {Record<string, T>} steps by the names of keys @param {(step: T, event: KeyboardEvent) => void} act */
export function keys(element, steps, act) {
    element.addEventListener('keydown', (event) => {
        const { key } = /** @type {KeyboardEvent} */ (event);
        if (!(key in steps)) return;
        event.preventDefault();
        act(steps[key], /** @type {KeyboardEvent} */ (event));
    });
}

/** What is held and moved, or moved by keys, along an axis. @template T @template {Element} E @param {E} element
 * @param {import('./dom.js').Attributes} named what it is called, and its ends @param {Record<string, T>} steps of keys
 * @param {{key: (step: T) => void} & Parameters<typeof drag>[1]} acts */
export function slider(element, named, steps, { key, ...acts }) {
    attribute(element, { role: 'slider', tabindex: 0, ...named });
    keys(element, steps, key);
    drag(element, acts);
    return element;
}

/** One of several that is pointed at, by an attribute that names it, or chosen by arrows. @param {HTMLElement} list
 * @param {string} name of the attribute, as `data-pair` @param {(value: string) => void} choose
 * @param {(by: [along: number, down: number]) => void} [arrow] */
export function pointed(list, name, choose, arrow) {
    const over = /** @param {Event} event */ (event) => {
        const value = /** @type {Element} */ (event.target).closest(`[${name}]`)?.getAttribute(name);
        if (value) choose(value);
    };
    if (arrow) keys(list, STEPS, arrow);
    list.addEventListener('pointerover', over);
    list.addEventListener('pointerdown', over);
}
