// dom.js - elements made in one expression.

const HTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';

/** A part is a child by its element. @typedef {Node | {element: Node} | string | number | null | undefined | false} Leaf */
/** @template T @typedef {T | readonly T[]} Some */
/** A list may hold lists; what others pass on goes deeper. @typedef {Some<Some<Leaf>>} Child @typedef {Some<Some<Child>>} Children */
/** @typedef {Record<string, unknown>} Attributes */
/** @template {string} S @typedef {S extends `${infer T}.${string}` ? T : S} Tag */
/** @template M @template {string} S @typedef {Tag<S> extends keyof M ? M[Tag<S>] : never} Made */

/** Functions become listeners, true an empty attribute; false, null and undefined leave it out.
 * @param {Element} element @param {Attributes} attributes */
export function attribute(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
        const told = name.startsWith('aria-') && typeof value === 'boolean'; // which has no attribute without a value
        if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
        else if (value === true && !told) element.setAttribute(name, '');
        else if ((value === false && !told) || value === null || value === undefined) element.removeAttribute(name);
        else element.setAttribute(name, String(value));
    }
}

/** The attributes come first, where there are some. @param {Element} element @param {(Attributes | Children)[]} rest */
function fill(element, rest) {
    const first = /** @type {Attributes} */ (rest[0] ?? '');
    const plain = Object.getPrototypeOf(first) === Object.prototype && !Object.hasOwn(first, 'element');
    if (plain) attribute(element, first);
    for (const child of /** @type {unknown[]} */ (rest.slice(plain ? 1 : 0)).flat(Infinity))
        if (child !== null && child !== undefined && child !== false) {
            const own = /** @type {{element?: Node}} */ (child).element ?? child;
            element.append(own instanceof Node ? own : String(own));
        }
    return element;
}

/** Other children in place of those that are there. @param {Element} element @param {...Children} children */
export function put(element, ...children) {
    element.replaceChildren();
    fill(element, children);
}

/** An element of a namespace and its classes: "p.note.wide". @param {string} space @param {string} words */
function made(space, words) {
    const [tag, ...classes] = words.split('.');
    const element = document.createElementNS(space, tag);
    if (classes.length > 0) element.setAttribute('class', classes.join(' '));
    return element;
}

/** An HTML element: h('button.wide', {type: 'button', onclick: f}, 'Copy'). @template {string} S @param {S} tag with
 * its classes @param {...(Attributes | Children)} rest attributes, if there are some; then children */
export const h = (tag, ...rest) => /** @type {Made<HTMLElementTagNameMap, S>} */ (fill(made(HTML, tag), rest));

/** A field of one line; the browser neither completes nor corrects what is typed. @param {string} kind its class
 * @param {Attributes} attributes */
export const field = (kind, attributes) =>
    h(`input.${kind}`, { type: 'text', autocomplete: 'off', spellcheck: 'false', ...attributes });

/** The same of SVG. @template {string} S @param {S} tag @param {...(Attributes | Children)} rest */
export const svg = (tag, ...rest) => /** @type {Made<SVGElementTagNameMap, S>} */ (fill(made(SVG, tag), rest));

/** A MathML element; parts/formula.js puts text into <mi>, <mn> or <mo>. @param {string} tag @param {...Children} children */
export const m = (tag, ...children) => fill(made(MATH, tag), children);

let ids = 0;

/** An id that no other element has. */
export function fresh(prefix = 'e') {
    ids += 1;
    return `${prefix}${ids}`;
}

/** How much larger letters are than browsers have them: what is drawn in pixels around letters grows with them. */
export const unit = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** Paints an element once per animation frame, when `draw` is called or its size has changed.
 * @param {Element} element @param {() => void} paint */
export function painted(element, paint) {
    let due = 0;
    const draw = () => {
        if (due === 0)
            due = requestAnimationFrame(() => {
                due = 0;
                paint();
            });
    };
    const sizes = new ResizeObserver(draw);
    sizes.observe(element);
    return { draw, stop: () => sizes.disconnect() };
}
