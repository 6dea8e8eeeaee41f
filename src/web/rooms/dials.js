// dials.js - the pairs of a head as dials: the colour says which axis turns a pair, the hand by how much.
import { h, put, svg } from '../parts/dom.js';
import { clamp } from '../parts/number.js';
import { pointed } from '../parts/pointers.js';
import { seriesTable } from '../parts/table.js';

/** @typedef {{cos: ArrayLike<number>, sin: ArrayLike<number>}} Turn */

/** Numbers in order as ranges: 0–15, 40. @param {number[]} list */
function ranges(list) {
    const first = list.filter((n) => !list.includes(n - 1));
    const last = list.filter((n) => !list.includes(n + 1));
    return first.map((n, i) => (n === last[i] ? String(n) : `${n}–${last[i]}`)).join(', ');
}

export class Dials {
    /** @param {string[]} axes their names @param {(pair: number) => void} choose */
    constructor(axes, choose) {
        this.axes = axes;
        /** @private */ this.chosen = 0;
        /** @private @type {HTMLElement[]} */ this.items = [];
        this.list = h('div.dials', { role: 'group', tabindex: 0 });
        this.owned = h('ul.owned');
        /** @private @type {Turn | null} */ this.turn = null;
        /** @private */ this.table = seriesTable('Where the hands stand, by pair', () =>
            Object.entries(this.turn ?? {}).map(([name, y]) => ({ name, y })),
        );
        this.element = h('div', this.owned, this.list, this.table);
        const arrow = /** @param {number[]} by pairs, and rows of them */ ([along, down]) => {
            const row = Math.max(
                1,
                this.items.findIndex((item) => item.offsetTop > this.items[0].offsetTop),
            );
            choose(clamp(this.chosen + along + row * down, 0, this.items.length - 1));
        };
        pointed(this.list, 'data-pair', (pair) => choose(Number(pair)), arrow);
    }

    /** @param {number[]} owner of each pair @param {Turn} turn @param {number} chosen */
    show(owner, turn, chosen) {
        this.chosen = chosen;
        this.turn = turn;
        this.table.refresh();
        const owned = this.axes.map((name, axis) => {
            const pairs = owner.flatMap((each, pair) => (each === axis ? [pair] : []));
            const text = pairs.length === 0 ? 'no pair' : `${pairs.length} pairs: ${ranges(pairs)}`;
            return h('li', { class: `axis-${axis}` }, h('b', name), h('span', text));
        });
        put(this.owned, owned);
        this.list.setAttribute('aria-label', `Pairs as dials. Arrow keys choose one. Now pair ${chosen}.`);
        this.items = owner.map((axis, pair) => {
            const at = pair === chosen ? ' at' : '';
            const named = { class: `dial-pair axis-${axis}${at}`, 'data-pair': pair, 'data-axis': this.axes[axis] };
            const hand = { x2: 9 * turn.cos[pair], y2: -9 * turn.sin[pair] };
            const face = { viewBox: '-11 -11 22 22', 'aria-hidden': 'true' };
            return h('span', named, svg('svg', face, svg('circle', { r: 10 }), svg('line', hand)), h('span', pair));
        });
        put(this.list, this.items);
    }
}
