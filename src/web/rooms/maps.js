// maps.js - words as vectors of numbers that are always the same, and tables of a number for each pair of words.
import { h } from '../parts/dom.js';
import { colour } from '../parts/palette.js';

export const CHANNELS = 16;
// Numbers in cells have room up to so many words.
const NUMBERED_MAX = 5;
// Black has a contrast of 7 on paler cells than these, and white on darker ones; between, a number stands on white.
const MIDDLE = [0.53, 0.93];

/** The words of a text, the first of them. @param {string} text @param {number} most */
export const split = (text, most) => text.split(/\s+/).filter(Boolean).slice(0, most);

/** Numbers from -2 to 2 that a word, its role and a seed always give: a hash (FNV-1a), stirred for each channel.
 * @param {string} word @param {string} role @param {string} seed @param {number} [width] */
export function vector(word, role, seed, width = CHANNELS) {
    let state = 2166136261;
    for (const letter of `${seed} ${role} ${word}`)
        state = Math.imul(state ^ /** @type {number} */ (letter.codePointAt(0)), 16777619);
    return Array.from({ length: width }, () => {
        state = Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9;
        state = Math.imul(state ^ (state >>> 13), 3266489917);
        return ((state >>> 24) - 128) / 64;
    });
}

/** A map as a table: its words, and a number for each pair of them. @param {string} name @param {string[]} words
 * @param {number[]} order @param {(query: number, key: number) => number} value @param {boolean} signed */
export function map(name, words, order, value, signed) {
    const cell = /** @param {number} query @param {number} key */ (query, key) => {
        const number = value(query, key);
        const tone = MIDDLE.filter((from) => Math.abs(number) > from).length;
        // Two digits after the point, and none for nothing at all or almost nothing.
        const digits = Math.abs(number).toFixed(2).replace(/^0/, '');
        const told = (signed ? (number < 0 ? '−' : '+') : '') + digits;
        const text = number === 0 ? '0' : Number(digits) === 0 ? '~0' : told;
        const named = { 'data-pair': `${query},${key}`, class: ['pale', 'middle', 'dark'][tone] };
        const td = h('td', named, h('span', text));
        td.style.setProperty('background', colour(number));
        return td;
    };
    return h('table', { class: words.length > NUMBERED_MAX ? 'map many' : 'map' }, [
        h('caption', name),
        h('thead', h('tr', h('td'), ...order.map((key) => h('th', { scope: 'col' }, words[key])))),
        h('tbody', [
            order.map((query) =>
                h('tr', h('th', { scope: 'row' }, words[query]), ...order.map((key) => cell(query, key))),
            ),
        ]),
    ]);
}
