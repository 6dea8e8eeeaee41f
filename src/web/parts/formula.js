// formula.js - formulas as MathML.
import { h, m } from './dom.js';

/** @typedef {Node | string | number} Part */

/** Text as the element that suits it: numbers, names, or signs. @param {Part} part @returns {Node} */
function atom(part) {
    if (part instanceof Node) return part;
    const text = String(part);
    if (/^[−-]?[\d.\u202f]+(e[−-]?\d+)?$/.test(text)) return m('mn', text);
    const word = m(/^[\p{L}_]+$/u.test(text) ? 'mi' : 'mo', text);
    // A term on a line of its own begins with its sign, which is no sign of a number.
    if (text === '+') word.setAttribute('form', 'infix');
    return word;
}

/** Parts in a row. Brackets grow around fractions and powers alone. @param {...Part} parts */
export function row(...parts) {
    const whole = m('mrow', parts.map(atom));
    if (whole.querySelector('mfrac, msup') === null)
        for (const sign of whole.querySelectorAll('mo')) sign.setAttribute('stretchy', 'false');
    return whole;
}

/** @param {Part} above @param {Part} below */
export const fraction = (above, below) => m('mfrac', atom(above), atom(below));

/** @param {Part} base @param {Part} exponent */
export const power = (base, exponent) => m('msup', atom(base), atom(exponent));

/** @param {Part} base @param {Part} index */
export const sub = (base, index) => m('msub', atom(base), atom(index));

/** A function of an argument: call('sin', ...). @param {string} name @param {...Part} argument */
export const call = (name, ...argument) => row(m('mi', name), m('mo', '\u2061'), '(', ...argument, ')');

/** A formula and what it comes to. Formulas do not break; on a narrow screen the value goes to a line of its own.
 * @param {Part[]} parts @param {string} value */
export const equation = (parts, value) => h('span', formula(...parts), ` = ${value}`);

/** A whole formula. @param {...Part} parts */
export function formula(...parts) {
    const whole = m('math', row(...parts));
    whole.setAttribute('display', 'inline');
    return whole;
}
