// strips.js - matrices of one room that have one window and one cursor, which the address keeps.
import { h } from './dom.js';
import { Heatmap } from './heatmap.js';
import { table } from './table.js';
import { cellOf, kept } from './view.js';

/** @import { Cell, Options } from './heatmap.js' */

export class Strips {
    /** @param {import('./place.js').Place} place @param {(cell: Cell) => void} tell what is at the cursor
     * @param {{prefix?: string, first?: Cell}} [how] of their names in the address, and the cell where that has none */
    constructor(place, tell, { prefix = '', first } = {}) {
        /** @private */ this.place = place;
        /** @private */ this.tell = tell;
        /** @private */ this.names = { at: `${prefix}at`, win: `${prefix}win` };
        /** @private */ this.first = first ?? null;
        /** @type {Heatmap[]} */ this.maps = [];
        /** @private @type {ReturnType<typeof table>[]} */ this.tables = [];
    }

    /** Draw these, each in the place of one that is there. @param {Options[]} all */
    show(all) {
        this.stop();
        this.maps = all.map(
            (options, i) =>
                new Heatmap({
                    ...options,
                    before: this.maps[i]?.picture,
                    onCursor: (cell, _, done) => this.move(cell, done),
                    onView: (window) => this.#keep({ [this.names.win]: kept(window, options.matrix) }),
                }),
        );
        this.follow();
    }

    /** Show what is at a cell; the cursor stays there when it is done. @param {Cell} cell @param {boolean} done */
    move(cell, done) {
        if (done) this.#keep({ [this.names.at]: `${cell.row},${cell.column}` });
        else this.tell(cell);
    }

    /** @param {Record<string, string | null>} changes */
    #keep(changes) {
        this.place.look(changes);
        this.follow();
    }

    /** Show the window and the cursor that the address says. */
    follow() {
        const cell = cellOf(this.place.get(this.names.at)) ?? this.first;
        for (const map of this.maps) map.show(this.place.get(this.names.win), cell);
        for (const each of this.tables) each.refresh();
        if (cell !== null && this.maps.length > 0) this.tell(cell);
    }

    /** Each with its name above and its table below. */
    tabled() {
        this.tables = this.maps.map((map) => table(() => map.part));
        return this.maps.map(({ element, options }, i) =>
            h('div', h('h3', options.name), element, h('div.panels', this.tables[i].element)),
        );
    }

    stop() {
        for (const map of this.maps) map.stop();
    }
}
