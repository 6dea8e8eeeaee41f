// room.js - what rooms share: values of the address and the controls that set them, questions to the server, and what
// ends when a room is left.
import { address } from './api.js';
import { control, fields, form } from './controls.js';
import { Curve } from './curve.js';
import { h, put } from './dom.js';
import { Figure } from './figure.js';
import { Latest, complaint } from './latest.js';
import { find } from './listing.js';
import { clamp } from './number.js';
import { embedded } from './place.js';
import { foot, phrases, story } from './story.js';
import { take } from './take.js';

/** @import { Change, Row } from './controls.js' */
/** @import { Child } from './dom.js' */
/** @import { Options } from './figure.js' */
/** @import { Parameter } from './listing.js' */
/** @import { Context, Module } from '../rooms/rooms.js' */

/** @typedef {Record<string, string | number | null>} Changes null, or the usual value, takes one out of the address */
/** What is said in a room: its title, its sentences, the resources whose papers are named, phrases with the values of
 * the address whose picture they speak of, and questions that the page checks.
 * @typedef {{title: string, words: string[], papers?: string[], phrases?: [string, Record<string, string>][],
 * asked?: import('./story.js').Exercise[]}} Chapter */

const NARROW = '(width < 54em)';

export class Room {
    /** @type {Latest[]} */ #asked = [];
    /** @type {(() => void)[]} */ #shown = [];
    /** @type {Element | null} */ #stage = null;
    /** Values that the address leaves out. @type {Record<string, string>} */ usual = {};
    /** @private @type {Partial<Chapter>} */ chapter = {};
    /** What some teaching texts have otherwise. @type {import('./dom.js').Children[]} */ notes = [];
    /** Where what no field can show is told. */ fault = complaint();
    /** @type {Figure | null} */ figure = null;
    /** @private @type {{stop: () => void}[]} */ parts = [];

    /** @param {Context} context */
    constructor({ place, listing, go, fail }) {
        this.place = place;
        this.listing = listing;
        this.go = go;
        this.fail = fail;
    }

    /** A value of the address, or the usual one. @param {string} name */
    get = (name) => this.place.get(name, this.usual[name]);

    /** A whole number of the address, or the usual one, within bounds. @param {string} name @param {number} least @param {number} most */
    whole(name, least, most) {
        return clamp(Math.round(this.place.number(name, Number(this.usual[name]))), least, most);
    }

    /** Write values to the address; without `step` Back does not return to what was before.
     * @param {Changes} changes @param {{step?: boolean}} [how] */
    keep(changes, how) {
        const all = Object.entries(changes);
        const kept = all.map(([name, value]) => [name, String(value) === this.usual[name] ? null : value]);
        this.place.set(Object.fromEntries(kept), how);
    }

    /** Write values to the address and show what it says.
     * @param {Changes} changes @param {boolean} [done] nothing moves any more */
    set(changes, done = true) {
        this.keep(changes, { step: done });
        this.update(done);
    }

    /** The same, where what was set before is let go of, all of it or some. @param {Changes} changes @param {string[]} names */
    renew(changes, names = Object.keys(this.place.all()).filter((name) => name !== 'fig')) {
        this.set({ ...Object.fromEntries(names.map((name) => [name, null])), ...changes });
    }

    /** A control whose value the address has. @template {{show: (value: string) => void}} C @param {string} key there
     * @param {(change: Change) => C} make @param {Changes} [also] what changes with it */
    bound(key, make, also = {}) {
        const made = make((value, done = true) => this.set({ [key]: value || null, ...also }, done));
        this.#shown.push(() => made.show(this.get(key)));
        return made;
    }

    /** The same of a row as fields() has them. @param {Row} row @param {string} [key] @param {Changes} [also] */
    control(row, key = row[0], also = {}) {
        return this.bound(key, (change) => control(fields([row])[0], change), also);
    }

    /** A form whose values the address has. @param {Parameter[]} rows
     * @param {(name: string, done: boolean) => Changes | null} [also] what changes with a parameter */
    form(rows, also) {
        const made = form((name, value, done) => this.set({ [name]: value, ...also?.(name, done) }, done));
        this.#shown.push(() => made.show(rows, this.place.all(), this.usual));
        return made;
    }

    /** A part that ends with the room. @template {{stop: () => void}} T @param {T} part */
    own(part) {
        this.parts.push(part);
        return part;
    }

    /** Series of numbers as curves. @param {import('./curve.js').Options} options */
    plot = (options) => this.own(new Curve(options));

    /** A question, of which the latest counts. @param {(error: unknown) => void} [fail] else the line says what failed
     * @param {{patient?: boolean, busy?: Element}} [how] busy: what waits for the first answer */
    asks(fail = this.fail, { busy, ...how } = {}) {
        const question = this.own(new Latest(fail, how));
        question.ended = () => {
            busy?.removeAttribute('aria-busy');
            this.#settle();
        };
        this.#asked.push(question);
        return question;
    }

    /** Those of the values that the address has. @param {readonly string[]} names @returns {Record<string, string>} */
    chosen(names) {
        return Object.fromEntries(names.map((name) => [name, this.place.get(name)]).filter(([, text]) => text !== ''));
    }

    /** A part with its heading. In a frame of another page only the part that the address names with fig= is seen, or
     * the first. @param {string} name in the address of a frame @param {string} title
     * @param {{head?: Node, lead?: string, first?: boolean, source?: () => import('./take.js').Source | null}} how
     * `head`: the title as a formula, `source`: what its picture shows can be taken along
     * @param {...Child} children */
    section(name, title, { head, lead, first = false, source }, ...children) {
        const hidden = embedded() && this.place.get('fig', first ? name : '') !== name;
        const named = { 'aria-label': title, hidden, 'data-fig': first ? null : name };
        return h('section', { class: `part part-${name}`, ...named }, [
            h('h2', { 'aria-label': head && title }, head ?? title),
            lead && h('p.lead', lead),
            first && this.phrases(),
            children,
            source && h('div.panels', take(source)),
        ]);
    }

    /** Phrases about the picture, each of which makes it show what it says. */
    phrases() {
        return phrases(this.place.room, this.chapter.phrases ?? []);
    }

    /** What is set at the left, what is seen at the right. On a narrow screen what is set stands above the picture and
     * stays at the upper edge of the screen, folded until it is wanted. @param {Child[]} controls @param {...Child} seen */
    split(controls, ...seen) {
        const sheet = h('details.sheet', h('summary', 'Parameters'), controls);
        const narrow = matchMedia(NARROW);
        const fold = () => (sheet.open = !narrow.matches);
        narrow.addEventListener('change', fold);
        this.own({ stop: () => narrow.removeEventListener('change', fold) });
        fold();
        const panel = h('section.panel', { 'aria-label': 'Parameters' }, sheet);
        return h('div.split', panel, h('div.stage', { 'aria-busy': true }, seen));
    }

    /** The parameters of a resource, or those of some names. @param {string} path @param {readonly string[]} [names] */
    rows(path, names) {
        const all = find(this.listing, path)?.parameters ?? [];
        return names ? all.filter(({ name }) => names.includes(name)) : all;
    }

    /** Draw an answer in a frame, in place of the one that is there. @param {HTMLElement} frame
     * @param {import('./safetensors.js').Answer} found
     * @param {Pick<Options, 'path' | 'values'> & Partial<Options>} options */
    draw(frame, found, options) {
        this.figure?.stop();
        const title = address(options.path, options.values);
        const { place, fail: onError, figure: before } = this;
        this.figure = new Figure(found, { title, place, onError, before, ...options });
        put(frame, this.figure);
        frame.removeAttribute('aria-busy');
    }

    /** What is seen of the room. @returns {Child[]} */
    layout() {
        return [];
    }

    /** The stage is seen once all that was asked first has been answered: so nothing on it moves.
     * @param {HTMLElement} host @param {Partial<Chapter>} chapter */
    begin(host, chapter) {
        this.chapter = chapter;
        const { title, words = [], papers = [], asked = [] } = chapter;
        const sources = papers.map((path) => find(this.listing, path));
        const head = title ? [story(title, words, sources)] : [];
        put(host, head, this.layout(), foot(asked, this.notes));
        this.#stage = host.querySelector('.stage');
        this.update();
        if (host.querySelector('.error:not([hidden])')) this.#settle(); // Nothing was asked.
    }

    #settle() {
        if (this.#asked.every(({ running }) => !running)) this.#stage?.removeAttribute('aria-busy');
    }

    /** The address has changed: show what it says. @param {boolean} [done] */
    update(done = true) {
        for (const show of this.#shown) show();
        this.load(done);
    }

    /** Ask for what the address says. @param {boolean} _done nothing moves any more */
    load(_done) {}

    stop() {
        for (const part of [...this.parts, this.figure]) part?.stop();
    }
}

/** A module's `show`. @param {new (context: Context) => Room} Own @param {Partial<Chapter>} [chapter]
 * @returns {Module['show']} */
export const opened =
    (Own, chapter = {}) =>
    (host, context) => {
        const room = new Own(context);
        room.begin(host, chapter);
        return room;
    };
