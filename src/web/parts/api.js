// api.js - the only way to the server: numbers, documents, and what went wrong.
import { query } from './place.js';
import { parse } from './safetensors.js';

/** @typedef {{parameter?: string, pointer?: string, detail: string}} Fault */
/** @typedef {Record<string, string>} Values */
/**
 * @typedef {object} Options
 * @property {AbortSignal} [signal]
 * @property {object} [body] makes it a POST: members of JSON, or a Blob with its type
 * @property {string} [range] bytes of the answer
 */

/** What the server refused, in its own words. */
export class Problem extends Error {
    /** @param {{status: number, code: string, title: string, detail?: string, errors?: Fault[]}} json */
    constructor(json) {
        super(json.detail ?? json.title);
        this.status = json.status;
        this.code = json.code;
        this.title = json.title;
        this.errors = json.errors ?? [];
    }
}

/** The parameter or the member of a body that a fault is about. @param {Fault} fault */
export function parameterOf({ parameter, pointer = '' }) {
    return parameter ?? pointer.replace(/^#?\//, '').split('/')[0];
}

/** The server did not answer. */
export class Lost extends Error {
    constructor() {
        super('The server does not answer.');
    }
}

/** Dispatches "lost" when the server stops answering, and "back" when it answers again. */
export const line = new EventTarget();

const RETRY_MS = [500, 1000, 2000, 4000];
const BUSY_TRIES = 3;
let lost = false;

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function watch() {
    for (let attempt = 0; lost; attempt++) {
        await pause(RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]);
        try {
            if ((await fetch('/livez', { cache: 'no-store' })).ok) lost = false;
        } catch {
            // It is still away.
        }
    }
    line.dispatchEvent(new Event('back'));
}

function lose() {
    if (!lost) {
        lost = true;
        line.dispatchEvent(new Event('lost'));
        void watch();
    }
    return new Lost();
}

/** The address of a resource with these parameters, as short as it can be read. @param {string} path
 * @param {Values} [values] */
export const address = (path, values = {}) =>
    path + query(values, (text) => encodeURIComponent(text).replace(/%(2C|3A|2F)/g, decodeURIComponent));

/** A good response; one of a busy server is waited for. @param {string} url @param {Options} [options] */
export async function request(url, options = {}) {
    const { signal, body, range } = options;
    /** @type {RequestInit} */
    const init = { signal, headers: {} };
    const headers = /** @type {Record<string, string>} */ (init.headers);
    if (body !== undefined) {
        init.method = 'POST';
        init.body = body instanceof Blob ? body : JSON.stringify(body);
        headers['Content-Type'] = body instanceof Blob ? body.type : 'application/json';
    }
    if (range !== undefined) {
        headers.Range = `bytes=${range}`;
        // The browser's cache lets one request at a time read a document in parts.
        init.cache = 'no-store';
    }
    for (let attempt = 1; ; attempt++) {
        /** @type {Response} */
        let response;
        try {
            response = await fetch(url, init);
        } catch (error) {
            throw signal?.aborted ? error : lose();
        }
        const { ok, status } = response;
        if (ok) return response;
        const unknown = { status, code: 'unknown', title: `The server replied ${status}.` };
        if (status !== 503 || attempt >= BUSY_TRIES) throw new Problem(await response.json().catch(() => unknown));
        await pause(1000 * Math.min(5, Number(response.headers.get('Retry-After') ?? 1)));
    }
}

/** @param {string} path @param {Values} [values] @param {Options} [options] */
export async function json(path, values, options) {
    return (await request(address(path, values), options)).json();
}

/** @type {Map<string, Promise<any>>} */
const known = new Map();

/** A document that stays as it is, asked for once. @param {string} path */
export function once(path) {
    const held = known.get(path) ?? json(path);
    known.set(path, held);
    held.catch(() => known.delete(path));
    return held;
}

/** GET /v1. @returns {Promise<import('./listing.js').Listing>} */
export const listing = () => once('/v1');

// Enough for the header of any answer, and for the numbers of a small one.
const FIRST_BYTES = 65536;

/** @typedef {import('openapi').paths} Paths */
/** @typedef {{[P in keyof Paths]: Paths[P] extends {get: {parameters: {query?: infer Q}}} ? keyof NonNullable<Q> : never}} Names */
/** @template {keyof Paths} P @typedef {{[N in Names[P]]?: string}} Asked */
/** @typedef {{[P in keyof Paths]: Paths[P] extends {post: {requestBody: {content: {'application/json': infer B}}}} ? B : never}} Bodies */

/** A numeric answer: its tensors by name, whose rows are read when they are wanted. The contract knows the names of
 * the parameters. @template {keyof Paths} P @param {P} path @param {Asked<P>} values @param {Options} [options] */
export function tensors(path, values, options = {}) {
    return answer(path, /** @type {Values} */ (values), options);
}

/** The numbers of the answer to a body. @template {keyof Paths} P @param {P} path @param {Bodies[P]} body
 * @param {AbortSignal} [signal] */
export async function posted(path, body, signal) {
    const found = await answer(path, {}, { signal, body: /** @type {object} */ (body) });
    return Object.values(await listed(found, signal))[0];
}

/** The answer of a resource that only the listing knows: for the instrument, and for the doctor, who takes any
 * table. @param {string} path @param {Values} values @param {Options} [options] */
export async function answer(path, values, options = {}) {
    if (options.body !== undefined) {
        const body = { ...options.body, format: 'safetensors' };
        const whole = await request(address(path, values), { ...options, body });
        return parse(await whole.arrayBuffer(), undefined);
    }
    const url = address(path, { ...values, format: 'safetensors' });
    const response = await request(url, { ...options, range: `0-${FIRST_BYTES - 1}` });
    return parse(await response.arrayBuffer(), async (first, bytes, signal) =>
        (await request(url, { signal, range: `${first}-${first + bytes - 1}` })).arrayBuffer(),
    );
}

/** All numbers of an answer, by the names of its tensors. @param {import('./safetensors.js').Answer} found
 * @param {AbortSignal} [signal] @returns {Promise<Record<string, import('./safetensors.js').Numbers>>} */
export async function listed(found, signal) {
    const lists = [...found.tensors].map(async ([name, tensor]) => [name, await tensor.all(signal)]);
    return Object.fromEntries(await Promise.all(lists));
}

/** The same of what is asked for. @template {keyof Paths} P @param {P} path @param {Asked<P>} values
 * @param {AbortSignal} [signal] */
export const arrays = async (path, values, signal) => listed(await tensors(path, values, { signal }), signal);
