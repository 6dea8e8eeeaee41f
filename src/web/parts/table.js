// table.js - the numbers in view as a real table, on demand.
import { h } from './dom.js';
import { digits } from './number.js';

/** @typedef {import('./safetensors.js').Matrix} Matrix */

const DELAY_MS = 150;
const CELLS_MAX = 1 << 14;
const COLUMNS_MAX = 1 << 9;

/**
 * @typedef {object} Part
 * @property {Matrix} matrix
 * @property {import('./view.js').Window} window
 * @property {(row: number) => string} rowLabel
 * @property {(column: number) => string} columnLabel
 * @property {string} caption
 */

/** @param {Part} part */
async function fill({ matrix, window, rowLabel, columnLabel, caption }) {
    const [first, column] = [Math.floor(window.row), Math.floor(window.column)];
    const all = [Math.ceil(window.row + window.rows) - first, Math.ceil(window.column + window.columns) - column];
    const columns = Math.min(COLUMNS_MAX, all[1]);
    const rows = Math.min(Math.floor(CELLS_MAX / columns), all[0]);
    const data = await matrix.read(first, rows);
    const places = Array.from({ length: columns }, (_, i) => column + i);
    const body = Array.from({ length: rows }, (_, r) =>
        h(
            'tr',
            {},
            h('th', { scope: 'row' }, rowLabel(first + r)),
            places.map((c) => h('td', {}, digits(data[r * matrix.columns + c], matrix.dtype))),
        ),
    );
    return h(
        'table',
        {},
        h(
            'caption',
            {},
            `${caption}: ${rows === all[0] && columns === all[1] ? 'all of' : `the first ${rows} × ${columns} of`} what is in view`,
        ),
        h(
            'thead',
            {},
            h(
                'tr',
                {},
                h('td'),
                places.map((c) => h('th', { scope: 'col' }, columnLabel(c))),
            ),
        ),
        h('tbody', {}, body),
    );
}

/**
 * The panel "Table". `part` is asked for when it is opened.
 * @param {() => Part | null} part
 */
export function table(part) {
    const out = h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Table' });
    const panel = h('details', { class: 'table' }, h('summary', {}, 'Table'), out);
    let timer = 0;
    const refresh = async () => {
        const what = panel.open ? part() : null;
        if (what !== null) out.replaceChildren(await fill(what));
    };
    const later = () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => void refresh(), DELAY_MS);
    };
    panel.addEventListener('toggle', () => void refresh());
    return { element: panel, refresh: later };
}
