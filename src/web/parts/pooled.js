// pooled.js - a matrix too large to be read, as the service's own figure of it: the least and the greatest of each pixel.
import { address, pause, request } from './api.js';
import { Latest } from './latest.js';
import { positionsOf } from './positions.js';

/** @import { Window } from './view.js' */

/** What of a matrix a picture shows, and how.
 * @typedef {object} Pooled
 * @property {ImageBitmap} picture
 * @property {number} row the first
 * @property {number} rows
 * @property {[number, number]} ends of its scale
 * @property {string} words what a pixel covers, as the figure says it
 */
/** @typedef {(window: Window, width: number, height: number, signal: AbortSignal) => Promise<Pooled>} Pool */

// The service's figures have this beside and above their cells.
const MARGIN = { width: 176, height: 132 };
const LEAST = { width: 320, height: 240 };
const MOST = { width: 2048, height: 1536 };

/** @param {'width' | 'height'} side @param {number} pixels */
const size = (side, pixels) => String(Math.round(Math.min(MOST[side], Math.max(LEAST[side], pixels + MARGIN[side]))));

/** The cells of a figure, without what is drawn around them. @param {Document} figure */
async function cells(figure) {
    const data = figure.querySelector('image')?.getAttribute('href')?.split(',')[1] ?? '';
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    return createImageBitmap(new Blob([bytes], { type: 'image/png' }));
}

/** What a figure says of itself. @param {Document} figure */
function said(figure) {
    const texts = [...figure.querySelectorAll('text')];
    const legend = Number(figure.querySelectorAll('image')[1]?.getAttribute('x'));
    const labels = texts
        .filter((text) => Number(text.getAttribute('x')) > legend)
        .map((text) => Number(text.textContent?.replaceAll('−', '-')));
    const end = Math.max(...labels.map(Math.abs));
    return {
        ends: /** @type {[number, number]} */ (
            labels.some((label) => label < 0) ? [-end, Math.max(0, ...labels)] : [0, end]
        ),
        words: texts.find((text) => text.textContent?.startsWith('minimum and maximum'))?.textContent ?? '',
    };
}

/** How rows of a matrix are asked for as a figure; all rows where they have no positions by which to choose them.
 * @param {string} path @param {Record<string, string>} values @param {Record<string, unknown>} parameters canonical
 * @param {number} count of all rows @returns {Pool} */
export function pool(path, values, parameters, count) {
    return async ({ row, rows }, width, height, signal) => {
        const name = ['positions', 'offsets'].find((each) => parameters[each] !== undefined) ?? '';
        const first = Math.floor(row);
        const end = Math.min(count, Math.ceil(row + rows));
        const chosen = positionsOf(parameters[name], first, end, count);
        const figure = { format: 'svg', figure_width: size('width', width), figure_height: size('height', height) };
        const url = address(path, { ...values, ...(chosen === undefined ? {} : { [name]: chosen }), ...figure });
        const text = await (await request(url, { signal })).text();
        // The policy of the page lets no style attributes in, and the cells need none.
        const found = new DOMParser().parseFromString(text.replace(/ style="[^"]*"/g, ''), 'image/svg+xml');
        const part = chosen === undefined ? { row: 0, rows: count } : { row: first, rows: end - first };
        return { ...part, ...said(found), picture: await cells(found) };
    };
}

const STILL_MS = 120;

/** The picture of a window, which is asked for once the window stands still. Until it comes, the one before is moved. */
export class Overview {
    /** @param {Pool} ask @param {() => void} arrived @param {(error: unknown) => void} failed */
    constructor(ask, arrived, failed) {
        /** @private */ this.ask = ask;
        /** @private */ this.arrived = arrived;
        /** @private */ this.latest = new Latest((error) => error !== null && failed(error));
        /** @private */ this.begun = false;
        /** @type {Pooled | null} */ this.held = null;
    }

    /** @param {Window} window @param {number} width @param {number} height of its picture, in pixels */
    want({ row, rows, column, columns }, width, height) {
        const window = { row, rows, column, columns };
        const still = this.begun ? STILL_MS : 0;
        this.begun = true;
        void this.latest.ask(
            [Math.floor(row), Math.ceil(row + rows), Math.round(width), Math.round(height)],
            async (signal) => {
                await pause(still);
                signal.throwIfAborted();
                return this.ask(window, width, height, signal);
            },
            (found) => {
                this.held = found;
                this.arrived();
            },
        );
    }

    stop() {
        this.latest.stop();
    }
}
