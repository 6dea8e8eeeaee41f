// readout.js - what stands under the cursor, in words and full digits.
import { h } from './dom.js';
import { digits, hex } from './number.js';

/** @typedef {[name: string, value: string | number | Node]} Fact */

export class Readout {
    constructor() {
        this.element = h('dl.readout', { 'aria-live': 'polite' });
        this.show(null);
    }

    /** @param {Fact[] | Record<string, Fact[1]> | null} facts null: nothing is pointed at */
    show(facts) {
        const all = facts ?? { cursor: 'Point at a value, or use the arrow keys.' };
        this.element.replaceChildren(...told(Array.isArray(all) ? all : Object.entries(all)));
    }
}

/** Facts as the children of a list. @param {Fact[]} facts */
export const told = (facts) => facts.map(([name, value]) => h('div', h('dt', name), h('dd', value)));

/** A value at full digits and as bits. @param {number | undefined} value undefined: not read yet
 * @param {string} dtype @param {string} [name] @param {string} [unit] @returns {Fact[]} */
export function valueFacts(value, dtype, name = 'value', unit = '') {
    if (value === undefined) return [[name, '…']];
    return [
        [name, digits(value, dtype) + unit],
        ['bits', hex(value, dtype)],
    ];
}
