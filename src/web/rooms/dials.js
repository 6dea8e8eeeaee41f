// dials.js - the pairs of a head as dials: the colour says which axis turns a pair, the hand by how much.
import { h, svg } from '../parts/dom.js';
import { ARROWS, keys, pointed } from '../parts/pointers.js';
import { seriesTable } from '../parts/table.js';

/** @typedef {{cos: ArrayLike<number>, sin: ArrayLike<number>}} Turn */

/** Numbers in order as ranges: 0–15, 40. @param {number[]} list */
function ranges(list) {
    const first = list.filter((n) => !list.includes(n - 1));
    const last = list.filter((n) => !list.includes(n + 1));
    return first.map((n, i) => (n === last[i] ? String(n) : `${n}–${last[i]}`)).join(', ');
}

/** A dial. @param {Turn | null} turn @param {number} pair */
const face = (turn, pair) =>
    svg('svg', { viewBox: '-11 -11 22 22', 'aria-hidden': 'true' }, [
        svg('circle', { r: 10 }),
        turn && svg('line', { x2: 9 * turn.cos[pair], y2: -9 * turn.sin[pair] }),
    ]);

export class Dials {
    /** @param {string[]} axes their names @param {(pair: number) => void} choose */
    constructor(axes, choose) {
        this.axes = axes;
        this.choose = choose;
        /** @private */ this.chosen = 0;
        /** @private @type {HTMLElement[]} */ this.items = [];
        this.list = h('div.dials', { role: 'group', tabindex: 0 });
        this.owned = h('ul.owned');
        /** @private @type {Turn | null} */ this.turn = null;
        /** @private */ this.table = seriesTable('Where the hands stand, by pair', () =>
            Object.entries(this.turn ?? {}).map(([name, y]) => ({ name, y })),
        );
        this.element = h('div', this.owned, this.list, this.table.element);
        pointed(this.list, 'data-pair', (pair) => choose(Number(pair)));
        keys(this.list, ARROWS, (by) => this.#arrow(by));
    }

    /** @param {number[]} by pairs, and rows of them */
    #arrow([along, down]) {
        const [here, below] = [this.items[0], this.items.find((item) => item.offsetTop > this.items[0].offsetTop)];
        const row = below === undefined ? 1 : this.items.indexOf(below) - this.items.indexOf(here);
        this.choose(Math.min(this.items.length - 1, Math.max(0, this.chosen + along + row * down)));
    }

    /** @param {number[]} owner of each pair @param {Turn | null} turn @param {number} chosen */
    show(owner, turn, chosen) {
        this.chosen = chosen;
        this.turn = turn;
        this.table.refresh();
        const words = this.axes.map((name, axis) => {
            const pairs = owner.flatMap((each, pair) => (each === axis ? [pair] : []));
            return { name, axis, text: pairs.length === 0 ? 'no pair' : `${pairs.length} pairs: ${ranges(pairs)}` };
        });
        this.owned.replaceChildren(
            ...words.map(({ name, axis, text }) => h('li', { class: `axis-${axis}` }, h('b', name), h('span', text))),
        );
        this.list.setAttribute('aria-label', `Pairs as dials. Arrow keys choose one. Now pair ${chosen}.`);
        this.items = owner.map((axis, pair) =>
            h(
                'span',
                {
                    class: `dial-pair axis-${axis}${pair === chosen ? ' at' : ''}`,
                    'data-pair': pair,
                    'data-axis': this.axes[axis],
                },
                [face(turn, pair), h('span', pair)],
            ),
        );
        this.list.replaceChildren(...this.items);
    }
}
