// sequence.js - words, then the patches of an image or a video, then words: each with its positions on three axes.
import { h, svg } from '../parts/dom.js';
import { clamp } from '../parts/number.js';
import { pointed } from '../parts/pointers.js';

/** @typedef {{before: string[], after: string[], frames: number, rows: number, columns: number}} Layout */
/** @typedef {{token: number, kind: 'text' | 'patch', name: string, frame: number, row: number, column: number}} Token */

/** All tokens in their order. @param {Layout} layout @returns {Token[]} */
export function tokensOf({ before, after, frames, rows, columns }) {
    const none = { frame: -1, row: -1, column: -1 };
    const word = /** @param {string} name @returns {Omit<Token, 'token'>} */ (name) => ({
        ...{ kind: 'text', name: `“${name}”`, ...none },
    });
    const patch = /** @param {number} i @returns {Omit<Token, 'token'>} */ (i) => {
        const frame = Math.floor(i / (rows * columns));
        const [row, column] = [Math.floor(i / columns) % rows, i % columns];
        const of = frames > 1 ? `frame ${frame}, ` : '';
        return { kind: 'patch', name: `patch in ${of}row ${row}, column ${column}`, frame, row, column };
    };
    const patches = Array.from({ length: frames * rows * columns }, (_, i) => patch(i));
    return [...before.map(word), ...patches, ...after.map(word)].map((each, token) => ({ token, ...each }));
}

/** A hill and a sun, which moves from frame to frame: something to be cut into patches. @param {number} frame @param {number} frames */
const scene = (frame, frames) =>
    svg('svg.scene', { viewBox: '0 0 120 80', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
        svg('circle', { cx: 30 + (60 * frame) / Math.max(1, frames - 1), cy: 24, r: 13 }),
        svg('path', { d: 'M0 62Q30 38 58 58T120 46V80H0Z' }),
    ]);

export class Sequence {
    /** @param {(token: number) => void} choose */
    constructor(choose) {
        /** @private @type {HTMLElement[]} */ this.cells = [];
        /** @private @type {ArrayLike<number>[]} */ this.axes = [];
        /** @private */ this.columns = 1;
        /** @private */ this.chosen = 0;
        this.element = h('div.sequence', { role: 'group', tabindex: 0 });
        const arrow = /** @param {number[]} by tokens, and rows of patches */ ([along, down]) => {
            const row = this.cells[this.chosen].classList.contains('patch') ? this.columns : 1;
            choose(clamp(this.chosen + along + row * down, 0, this.cells.length - 1));
        };
        pointed(this.element, 'data-token', (token) => choose(Number(token)), arrow);
    }

    /** @param {Layout} layout @param {Token[]} tokens @param {ArrayLike<number>[]} axes positions of the tokens */
    show({ before, frames, rows, columns }, tokens, axes) {
        this.columns = columns;
        this.axes = axes;
        this.cells = tokens.map(({ token, kind, name }) =>
            h('span', { class: `token ${kind}`, 'data-token': token }, [
                kind === 'text' && h('span.name', name.slice(1, -1)),
                axes.map((axis, i) => h('span', { class: `axis-${i}` }, axis[token])),
            ]),
        );
        const first = before.length;
        const size = rows * columns;
        const frame = /** @param {number} i */ (i) => {
            const cells = this.cells.slice(first + i * size, first + (i + 1) * size);
            const grid = h('div.frame', scene(i, frames), cells);
            grid.style.setProperty('--columns', String(columns));
            return grid;
        };
        this.element.replaceChildren(
            h('div.run', this.cells.slice(0, first)),
            h('div.frames', [Array.from({ length: frames }, (_, i) => frame(i))]),
            h('div.run', this.cells.slice(first + frames * size)),
        );
    }

    /** Mark a token, and every position that it shares with others. @param {number} token @param {string} name */
    mark(token, name) {
        this.chosen = token;
        this.element.setAttribute('aria-label', `Tokens. Arrow keys choose one. Now token ${token}, ${name}.`);
        const { axes } = this;
        this.cells.forEach((cell, i) => {
            cell.classList.toggle('at', i === token);
            axes.forEach((axis, j) =>
                cell.querySelector(`.axis-${j}`)?.classList.toggle('same', axis[i] === axis[token]),
            );
        });
    }
}
