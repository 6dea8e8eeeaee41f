// search.js - one of many, found by typing: a field with the browser's own list of all that there is.
import { field, h, put } from './dom.js';

/** @typedef {{value: string, title: string}} Choice */

/** The choice that a text means: by its title or value, else the first that has words which begin so, else the first
 * that has the text of each word anywhere. @param {Choice[]} choices @param {string} text */
function meant(choices, text) {
    const plain = text.trim().toLowerCase();
    const wanted = plain.split(/\s+/);
    const all = choices.map((each) => {
        const [title, value] = [each.title.toLowerCase(), each.value.toLowerCase()];
        const words = `${title} ${value}`.split(/[^\p{L}\p{N}.]+/u);
        return { each, title, value, words };
    });
    const found =
        all.find(({ title, value }) => title === plain || value === plain) ??
        all.find(({ words }) => wanted.every((word) => words.some((each) => each.startsWith(word)))) ??
        all.find(({ title, value }) => wanted.every((word) => `${title} ${value}`.includes(word)));
    return found?.each;
}

/** @param {string} id @param {(value: string) => void} change */
export function search(id, change) {
    const list = h('datalist', { id: `${id}-list` });
    const input = field('search', { id, list: list.id });
    /** @type {Choice[]} */
    let choices = [];
    let chosen = '';
    const title = () => choices.find(({ value }) => value === chosen)?.title ?? chosen;
    const write = () => {
        input.value = input.placeholder = title();
    };
    // Browsers list what begins like the text of the field: it is emptied, so that all are listed.
    const open = () => {
        input.value = '';
    };
    const choose = () => {
        const found = input.value.trim() === '' ? undefined : meant(choices, input.value);
        input.setCustomValidity(found || input.value === '' ? '' : `Nothing here is called “${input.value}”.`);
        if (found === undefined) return void input.reportValidity();
        const before = chosen;
        chosen = found.value;
        write();
        if (before !== chosen) change(chosen);
    };
    input.addEventListener('focus', open);
    input.addEventListener('pointerdown', open);
    input.addEventListener('blur', write);
    input.addEventListener('change', choose);
    // A row of the list that was clicked is no typing.
    input.addEventListener('input', (event) => {
        const { inputType } = /** @type {InputEvent} */ (event);
        if (inputType === undefined || inputType === 'insertReplacementText') choose();
    });
    return {
        parts: [input, list],
        /** @param {Choice[]} all */
        offer: (all) => {
            choices = all;
            const options = all.map((each) => h('option', { value: each.title }));
            put(list, options);
            if (document.activeElement !== input) write();
        },
        /** @param {string} value */
        show: (value) => {
            chosen = value;
            if (document.activeElement !== input) write();
        },
    };
}
