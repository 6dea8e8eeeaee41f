// readout.js - what stands under the cursor, in words and full digits.
import { h } from './dom.js';
import { digits, hex } from './number.js';

/** @typedef {[name: string, value: string | number | Node]} Fact */

export class Readout {
    constructor() {
        this.element = h('dl.readout', { 'aria-live': 'polite' });
        this.show(null);
    }

    /** @param {Fact[] | null} facts null: nothing is pointed at */
    show(facts) {
        if (facts === null)
            return this.element.replaceChildren(
                h('div', h('dt', 'cursor'), h('dd', 'Point at a value, or use the arrow keys.')),
            );
        this.element.replaceChildren(...facts.map(([name, value]) => h('div', h('dt', name), h('dd', value))));
    }
}

/** A value at full digits and as bits. @param {number | undefined} value undefined: not read yet
 * @param {string} dtype @returns {Fact[]} */
export function valueFacts(value, dtype) {
    if (value === undefined) return [['value', '…']];
    return [
        ['value', digits(value, dtype)],
        ['bits', hex(value, dtype)],
    ];
}
