// view.js - which rows and columns of a matrix a heatmap shows, and how that moves.
import { clamp } from './number.js';

/** @typedef {{row: number, rows: number, column: number, columns: number}} Window */

// Most elements in view that are read, to show the least and the greatest of each pixel; and where the service can show
// more in a figure of its own.
const VIEW_ELEMENTS = 1 << 24;
const READ_ELEMENTS = 1 << 22;

/** @typedef {{rows: number, columns: number, pool?: import('./pooled.js').Pool}} Size of a matrix; `pool` shows more than is read */

/** Whether a window has so much that it is not read. @param {Window} window @param {Size} matrix */
export const large = ({ rows }, { columns, pool }) => pool !== undefined && rows * columns > READ_ELEMENTS;

/** The whole matrix, or as many rows of it as fit. @param {Size} matrix @returns {Window} */
export function whole(matrix) {
    return bounded({ row: 0, rows: matrix.rows, column: 0, columns: matrix.columns }, matrix);
}

/** The window moved and sized so that it lies within the matrix. @param {Window} window @param {Size} matrix
 * @returns {Window} */
export function bounded(window, matrix) {
    const columns = clamp(window.columns, 1, matrix.columns);
    const most = matrix.pool ? matrix.rows : Math.min(matrix.rows, Math.floor(VIEW_ELEMENTS / matrix.columns));
    const rows = clamp(window.rows, 1, most);
    return {
        row: clamp(window.row, 0, matrix.rows - rows),
        rows,
        column: clamp(window.column, 0, matrix.columns - columns),
        columns,
    };
}

/** The window made larger by a factor (or smaller, below 1) about a point of it, whose place is given from 0 to 1.
 * @param {Window} window @param {number} factor @param {number} x @param {number} y @returns {Window} */
export function zoomed(window, factor, x, y) {
    const rows = Math.max(1, window.rows * factor);
    const columns = Math.max(1, window.columns * factor);
    return {
        row: window.row + (window.rows - rows) * y,
        rows,
        column: window.column + (window.columns - columns) * x,
        columns,
    };
}

/** The window moved by as little as brings the cell into it. @param {Window} window
 * @param {{row: number, column: number}} cell @returns {Window} */
export function showing(window, cell) {
    const within = /** @param {number} first @param {number} n @param {number} at */ (first, n, at) =>
        clamp(first, at + 1 - n, at);
    return {
        ...window,
        row: within(window.row, window.rows, cell.row),
        column: within(window.column, window.columns, cell.column),
    };
}

// Steps in which a window moves, as parts of its size: finer than pixels, and few digits in the address.
const STEPS = 1e4;

/** @param {number} size */
const digits = (size) => Math.max(0, Math.ceil(Math.log10(STEPS / size)));

/** The window as the address can say it. @param {Window} window */
export function text(window) {
    const { row, rows, column, columns } = window;
    const ends = /** @param {number} first @param {number} size */ (first, size) =>
        [first, first + size].map((place) => Number(place.toFixed(digits(size))));
    return [...ends(row, rows), ...ends(column, columns)].join(',');
}

/** The window as the address keeps it: nothing of the whole. @param {Window} window @param {Size} matrix */
export const kept = (window, matrix) => (text(window) === text(whole(matrix)) ? null : text(window));

/** @param {string} words @param {Size} matrix */
export function parse(words, matrix) {
    const [top, bottom, left, right] = words.split(',').map(Number);
    const good = bottom > top && right > left;
    return good
        ? bounded({ row: top, rows: bottom - top, column: left, columns: right - left }, matrix)
        : whole(matrix);
}

/** The cell that words name: its row and its column; null where they name none. @param {string} words */
export function cellOf(words) {
    const [row, column] = /^\d+,\d+$/.test(words) ? words.split(',').map(Number) : [NaN, NaN];
    return Number.isNaN(row) ? null : { row, column };
}
