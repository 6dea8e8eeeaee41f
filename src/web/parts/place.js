// place.js - the state of the page as its address: #/room/rest?name=value&...

/** @typedef {Record<string, string>} Values */

const WRITE_MS = 150;
// Moves of a cursor or a window that follow each other sooner are one step of the history.
const REST_MS = 1000;

/** Dispatches "moved" when the state has changed. */
export const moved = new EventTarget();

/** @param {string} [hash] @returns {{room: string, rest: string, values: Values}} */
export function read(hash = location.hash) {
    const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
    const [room, ...rest] = path.split('/');
    return {
        room,
        rest: rest.map(decodeURIComponent).join('/'),
        values: Object.fromEntries(new URLSearchParams(query)),
    };
}

/** Readable text of a value: what a fragment may hold stays as it is. */
const plain = /** @param {string} text */ (text) =>
    encodeURIComponent(text).replace(/%(2C|3A|2F|20|5B|5D)/g, (code) =>
        code === '%20' ? '+' : decodeURIComponent(code),
    );

/** Values as an address has them, all or some. @param {object} values @param {(name: string) => boolean} [wanted]
 * @returns {Values} */
export function texts(values, wanted = () => true) {
    const some = Object.entries(values).filter(([name]) => wanted(name));
    return Object.fromEntries(some.map(([name, value]) => [name, String(value)]));
}

/** Values behind an address. @param {Values} values @param {(text: string) => string} written */
export function query(values, written) {
    const all = Object.entries(values).map(([name, value]) => `${name}=${written(value)}`);
    return all.length === 0 ? '' : `?${all.join('&')}`;
}

/** @param {string} room @param {string} rest @param {Values} values */
export const text = (room, rest, values) => `#/${room}${rest === '' ? '' : `/${rest}`}${query(values, plain)}`;

/** The values of the address, which a room reads and writes. Those at their default stay out of it. */
export class Place {
    /** @param {string} room @param {string} rest @param {Values} values */
    constructor(room, rest, values) {
        this.room = room;
        this.rest = rest;
        /** @private */ this.values = values;
        /** @private */ this.moving = false;
        /** @private */ this.looked = -REST_MS;
    }

    /** @param {string} name @param {string} [fallback] */
    get(name, fallback = '') {
        return this.values[name] ?? fallback;
    }

    /** A number; the fallback where the address has none. @param {string} name @param {number} fallback */
    number(name, fallback) {
        const value = this.values[name];
        return value === undefined || !Number.isFinite(Number(value)) ? fallback : Number(value);
    }

    /** All values, by name. */
    all() {
        return { ...this.values };
    }

    /** Write values; null takes one out. `step: true` is a change of its own, or the end of a movement: Back returns
     * to what was before it. `step: false` is part of a movement. Without `step` the entry of the history is
     * replaced. @param {Record<string, string | number | null>} changes @param {{step?: boolean}} [how] */
    set(changes, { step } = {}) {
        for (const [name, value] of Object.entries(changes))
            if (value === null) delete this.values[name];
            else this.values[name] = String(value);
        moved.dispatchEvent(new Event('moved'));
        const begins = step !== undefined && !this.moving;
        if (step !== undefined) this.moving = !step;
        const hash = text(this.room, this.rest, this.values);
        if (hash === location.hash && waiting === '') return;
        const url = `${location.pathname}${location.search}${hash}`;
        if (begins) {
            flush();
            history.pushState(null, '', url);
        } else {
            // Browsers refuse more than some hundred changes in ten seconds.
            waiting = url;
            replaced = location.hash;
            if (timer === 0) write();
            if (step) flush();
        }
    }

    /** Write where one looks: a cursor, a window. @param {Record<string, string | null>} changes */
    look(changes) {
        const begins = performance.now() - this.looked > REST_MS;
        this.looked = performance.now();
        this.set(changes, begins ? { step: true } : {});
    }

    /** Take over what Back, Forward or the visitor wrote. @param {Values} values */
    take(values) {
        this.values = values;
        this.moving = false;
        moved.dispatchEvent(new Event('moved'));
    }
}

let waiting = '';
/** The fragment that it replaces; what the visitor went to meanwhile stays. */
let replaced = '';
let timer = 0;

function write() {
    timer = 0;
    if (waiting === '') return;
    if (location.hash === replaced) history.replaceState(null, '', waiting);
    waiting = '';
    timer = window.setTimeout(write, WRITE_MS);
}

/** Write what waits, before a new entry of the history is made. */
function flush() {
    clearTimeout(timer);
    write();
}

/** Is this one figure in a frame of another page? */
export function embedded() {
    return new URLSearchParams(location.search).get('embed') === '1';
}
