// readout.js - what stands under the cursor, in words and full digits: in a list, and beside the pointer.
import { h, put } from './dom.js';
import { digits, hex } from './number.js';

const GAP = 14;

/** @typedef {[name: string, value: string | number | Node]} Fact */

export class Readout {
    constructor() {
        this.element = h('dl.readout', { 'aria-live': 'polite' });
        this.show(null);
    }

    /** @param {Fact[] | Record<string, Fact[1]> | null} facts null: nothing is pointed at */
    show(facts) {
        const all = facts ?? { cursor: 'Point at a value, or use the arrow keys.' };
        put(this.element, told(Array.isArray(all) ? all : Object.entries(all)));
    }
}

/** What is below the pointer, in words beside it. */
export class Tip {
    constructor() {
        // Who does not point reads the same in the read-out.
        this.element = h('div.tip', { 'aria-hidden': 'true', hidden: true });
    }

    /** @param {number} x @param {number} y in CSS pixels of the element around @param {string} text */
    show(x, y, text) {
        const { element } = this;
        element.hidden = text === '';
        element.textContent = text;
        const width = element.offsetParent?.clientWidth ?? 0;
        const left = x + GAP + element.offsetWidth > width ? x - GAP - element.offsetWidth : x + GAP;
        element.style.setProperty('left', `${Math.max(0, left)}px`);
        element.style.setProperty('top', `${Math.max(0, y - GAP - element.offsetHeight)}px`);
    }

    hide() {
        this.element.hidden = true;
    }
}

/** Facts as the children of a list. @param {Fact[]} facts */
export const told = (facts) => facts.map(([name, value]) => h('div', h('dt', name), h('dd', value)));

/** A value at full digits and as bits. @param {number | undefined} value undefined: not read yet
 * @param {string} [dtype] @param {string} [name] @param {string} [unit] @returns {Fact[]} */
export function valueFacts(value, dtype = 'float64', name = 'value', unit = '') {
    if (value === undefined) return [[name, '…']];
    return [
        [name, digits(value, dtype) + unit],
        ['bits', hex(value, dtype)],
    ];
}
