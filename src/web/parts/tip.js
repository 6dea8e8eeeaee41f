// tip.js - what is below the pointer, in words beside it.
import { h } from './dom.js';

const GAP = 14;

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
