// dom.js - elements made in one expression.

const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes */

/**
 * Functions become listeners, true an empty attribute; false, null and undefined leave it out.
 * @param {Element} element
 * @param {Attributes} attributes
 */
export function attribute(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
        else if (value === true) element.setAttribute(name, '');
        else if (value === false || value === null || value === undefined) element.removeAttribute(name);
        else element.setAttribute(name, String(value));
    }
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, attributes, children) {
    attribute(element, attributes);
    for (const child of children.flat())
        if (child !== null && child !== undefined && child !== false)
            element.append(child instanceof Node ? child : String(child));
    return element;
}

/**
 * An HTML element: h('button', {type: 'button', onclick: f}, 'Copy').
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 */
export function h(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, /** @type {Child[]} */ (children.flat()));
}

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 */
export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, /** @type {Child[]} */ (children.flat()));
}

/**
 * A MathML element; text within it is put into <mi>, <mn> or <mo> by parts/formula.js.
 * @param {string} tag
 * @param {...(Child | Child[])} children
 */
export function m(tag, ...children) {
    return fill(document.createElementNS(MATH, tag), {}, /** @type {Child[]} */ (children.flat()));
}

let ids = 0;

/** An id that no other element has. */
export function fresh(prefix = 'e') {
    ids += 1;
    return `${prefix}${ids}`;
}

/**
 * Calls f once per animation frame, however often the result is called.
 * @param {() => void} f
 */
export function framed(f) {
    let due = 0;
    return () => {
        if (due === 0)
            due = requestAnimationFrame(() => {
                due = 0;
                f();
            });
    };
}
