// room.js - what rooms share: values of the address, questions to the server, and what ends when a room is left.
import { address } from './api.js';
import { Figure } from './figure.js';
import { Latest, section } from './latest.js';
import { find } from './listing.js';

/** @import { Options } from './figure.js' */
/** @import { Context, Module } from '../rooms/rooms.js' */

export class Room {
    /** @type {Latest[]} */ #asked = [];
    /** @type {Element | null} */ #stage = null;

    /** @param {Context} context @param {Record<string, string>} [usual] values that the address leaves out */
    constructor({ place, listing, go, fail }, usual = {}) {
        this.place = place;
        this.listing = listing;
        this.go = go;
        this.fail = fail;
        this.usual = usual;
        /** @type {Figure | null} */ this.figure = null;
        /** @private @type {{stop: () => void}[]} */ this.parts = [];
    }

    /** A value of the address, or the usual one. @param {string} name */
    get = (name) => this.place.get(name, this.usual[name]);

    /** Write values to the address and show what it says; null, or the usual value, takes one out.
     * @param {Record<string, string | number | null>} changes @param {boolean} [done] nothing moves any more */
    set(changes, done = true) {
        const all = Object.entries(changes);
        const kept = all.map(([name, value]) => [name, String(value) === this.usual[name] ? null : value]);
        this.place.set(Object.fromEntries(kept), { step: done });
        this.update();
    }

    /** A part that ends with the room. @template {{stop: () => void}} T @param {T} part */
    own(part) {
        this.parts.push(part);
        return part;
    }

    /** A question, of which the latest counts. @param {(error: unknown) => void} [fail] else the line says what failed
     * @param {{patient?: boolean}} [how] */
    asks(fail = this.fail, how) {
        const question = this.own(new Latest(fail, how));
        question.ended = () => this.#settle();
        this.#asked.push(question);
        return question;
    }

    /** Those of the values that the address has. @param {readonly string[]} names @returns {Record<string, string>} */
    chosen(names) {
        return Object.fromEntries(names.map((name) => [name, this.place.get(name)]).filter(([, text]) => text !== ''));
    }

    /** A part with its heading. @param {string} name in the address of a frame @param {string} title
     * @param {Omit<Parameters<typeof section>[1], 'name' | 'title'>} how @param {...import('./dom.js').Child} children */
    section(name, title, how, ...children) {
        return section(this.place, { name, title, ...how }, ...children);
    }

    /** Draw an answer in a frame, in place of the one that is there. @param {HTMLElement} frame
     * @param {import('./safetensors.js').Answer} found
     * @param {Pick<Options, 'path' | 'values'> & Partial<Options>} options */
    draw(frame, found, options) {
        this.figure?.stop();
        const title = address(options.path, options.values);
        const { place, fail: onError, figure: before } = this;
        this.figure = new Figure(found, { title, place, onError, before, ...options });
        frame.replaceChildren(this.figure.element);
        frame.removeAttribute('aria-busy');
    }

    /** Resources of the listing. @param {...string} paths */
    resources(...paths) {
        return paths.map((path) => find(this.listing, path));
    }

    /** The stage is seen once all that was asked first has been answered: so nothing on it moves.
     * @param {Element} host */
    begin(host) {
        this.#stage = host.querySelector('.stage');
        if (host.querySelector('.error:not([hidden])')) this.#settle(); // Nothing was asked.
    }

    #settle() {
        if (this.#asked.every(({ running }) => !running)) this.#stage?.removeAttribute('aria-busy');
    }

    /** The address has changed: show what it says. */
    update() {}

    stop() {
        for (const part of [...this.parts, this.figure]) part?.stop();
    }
}

/** A module's `show`. @param {new (host: HTMLElement, context: Context) => Room} Own @returns {Module['show']} */
export const opened = (Own) => (host, context) => {
    const room = new Own(host, context);
    room.begin(host);
    return room;
};
