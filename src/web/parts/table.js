// table.js - the numbers in view as a real table, on demand.
import { h } from './dom.js';
import { brief, digits } from './number.js';
import { matrixOf } from './safetensors.js';
import { whole } from './view.js';

const DELAY_MS = 150;
const CELLS_MAX = 1 << 14;
const COLUMNS_MAX = 1 << 9;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {ArrayLike<number>} y
 * @property {ArrayLike<number>} [x] else 0, 1, ...
 */
/** @typedef {{matrix: import('./safetensors.js').Matrix, window: import('./view.js').Window, rowLabel: (row: number)
 * => string, columnLabel: (column: number) => string, caption: string}} Part */

/** A table of rows that have heads. @param {import('./dom.js').Attributes} attributes @param {string} caption
 * @param {readonly string[]} heads of the columns, that of the rows' heads first @param {Element[]} rows */
export function grid(attributes, caption, heads, rows) {
    const head = heads.map((name) => (name ? h('th', { scope: 'col' }, name) : h('td')));
    return h('table', attributes, [
        caption && h('caption', caption),
        heads.length > 0 && h('thead', h('tr', head)),
        h('tbody', rows),
    ]);
}

/** What may be wider than its place, and is scrolled by keys, too. @param {string} name @param {...import('./dom.js').Child} children */
export const scrolled = (name, ...children) =>
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': name }, children);

/** @param {Part} part */
async function fill({ matrix, window, rowLabel, columnLabel, caption }) {
    const [first, column] = [Math.floor(window.row), Math.floor(window.column)];
    const all = [Math.ceil(window.row + window.rows) - first, Math.ceil(window.column + window.columns) - column];
    const columns = Math.min(COLUMNS_MAX, all[1]);
    const rows = Math.min(Math.floor(CELLS_MAX / columns), all[0]);
    const data = await matrix.read(first, rows);
    const places = Array.from({ length: columns }, (_, i) => column + i);
    const body = Array.from({ length: rows }, (_, r) =>
        h('tr', [
            h('th', { scope: 'row' }, rowLabel(first + r)),
            places.map((c) => h('td', digits(data[r * matrix.columns + c], matrix.dtype))),
        ]),
    );
    const share = rows === all[0] && columns === all[1] ? 'all of' : `the first ${rows} × ${columns} of`;
    return grid({}, `${caption}: ${share} what is in view`, ['', ...places.map(columnLabel)], body);
}

/** All numbers of all series: a row for each point. @param {string} caption @param {Series[]} series @returns {Part | null} */
function columns(caption, series) {
    if (series.length === 0) return null;
    const [{ x }, n] = [series[0], series.length];
    const dtype = series.every(({ y }) => y instanceof Float32Array) ? 'float32' : 'float64';
    const length = n * Math.max(...series.map(({ y }) => y.length));
    const data = Float64Array.from({ length }, (_, i) => series[i % n].y[Math.floor(i / n)] ?? NaN);
    const matrix = matrixOf(caption, data, n, dtype);
    const rowLabel = /** @param {number} row */ (row) => brief(x?.[row] ?? row, 15);
    return { matrix, window: whole(matrix), rowLabel, columnLabel: (column) => series[column].name, caption };
}

/** The panel "Table". `part` is asked for when it is opened. @param {() => Part | null} part */
export function table(part) {
    const out = h('div.scroll', { tabindex: 0, role: 'group', 'aria-label': 'Table' });
    const panel = h('details.table', h('summary', 'Table'), out);
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

/** The panel of some series. @param {string} caption @param {() => Series[]} series */
export function seriesTable(caption, series) {
    const { element, refresh } = table(() => columns(caption, series()));
    return { element: h('div.panels', element), refresh };
}
