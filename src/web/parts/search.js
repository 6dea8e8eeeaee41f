// search.js - one of many, found by typing: a field with the browser's own list of all that there is.
import { h } from './dom.js';

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
    const field = h('input', {
        id,
        type: 'text',
        class: 'search',
        list: list.id,
        autocomplete: 'off',
        spellcheck: 'false',
    });
    /** @type {Choice[]} */
    let choices = [];
    let chosen = '';
    const title = () => choices.find(({ value }) => value === chosen)?.title ?? chosen;
    const write = () => {
        field.value = field.placeholder = title();
    };
    // Browsers list what begins like the text of the field: it is emptied, so that all are listed.
    const open = () => {
        field.value = '';
    };
    const choose = () => {
        const found = field.value.trim() === '' ? undefined : meant(choices, field.value);
        field.setCustomValidity(found || field.value === '' ? '' : `Nothing here is called “${field.value}”.`);
        if (found === undefined) return void field.reportValidity();
        const before = chosen;
        chosen = found.value;
        write();
        if (before !== chosen) change(chosen);
    };
    field.addEventListener('focus', open);
    field.addEventListener('pointerdown', open);
    field.addEventListener('blur', write);
    field.addEventListener('change', choose);
    // A row of the list that was clicked is no typing.
    field.addEventListener('input', (event) => {
        const { inputType } = /** @type {InputEvent} */ (event);
        if (inputType === undefined || inputType === 'insertReplacementText') choose();
    });
    return {
        parts: [field, list],
        /** @param {Choice[]} all */
        offer: (all) => {
            choices = all;
            list.replaceChildren(...all.map((each) => h('option', { value: each.title })));
            if (document.activeElement !== field) write();
        },
        /** @param {string} value */
        show: (value) => {
            chosen = value;
            if (document.activeElement !== field) write();
        },
    };
}
