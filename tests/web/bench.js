// bench.js - a server, a browser, and the pages that a case opens. What every page has to keep is checked here: no
// message on the console, no error, and no request to another origin.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

/** Where the tools are, and where pictures and reports go. */
export const folder = process.env.POSENC_WEB;
export const require = createRequire(`${folder}/tools/`);
const { chromium } = require('playwright-core');

// What takes so long will not end. Cases wait for states alone, so a slow machine only makes them slow.
const STUCK_MS = 120_000;

/** What has to come in its time, or the sentence that it did not. */
export function within(ms, what, coming) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not come within ${ms / 1000} s`)), ms);
    });
    return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}

/** Runs in a page before its scripts: keeps the names of what has begun and not ended in globalThis.begun. */
function watch() {
    const begun = (globalThis.begun = { names: new Map(), frame: requestAnimationFrame.bind(globalThis) });
    const { names } = begun;
    let ids = 0;
    const promised = (owner, name) => {
        const own = owner[name];
        owner[name] = function (...given) {
            const id = `${name} ${(ids += 1)}`;
            const ended = () => void names.delete(id);
            names.set(id, `${name} ${given[0] ?? ''}`);
            const promise = own.apply(this, given);
            promise.then(ended, ended);
            return promise;
        };
    };
    const called = (begin, end) => {
        const [own, stop] = [globalThis[begin], globalThis[end]].map((each) => each.bind(globalThis));
        globalThis[begin] = (act, ...more) => {
            const id = own((...given) => (names.delete(`${begin} ${id}`), act(...given)), ...more);
            names.set(`${begin} ${id}`, `${begin} ${more}`);
            return id;
        };
        globalThis[end] = (id) => (names.delete(`${begin} ${id}`), stop(id));
    };
    promised(globalThis, 'fetch');
    promised(globalThis, 'createImageBitmap');
    for (const name of ['arrayBuffer', 'blob', 'json', 'text']) promised(Response.prototype, name);
    for (const name of ['arrayBuffer', 'text']) promised(Blob.prototype, name);
    called('setTimeout', 'clearTimeout');
    called('requestAnimationFrame', 'cancelAnimationFrame');
}

/** Runs in a page: what is still to come, two frames from now, when observers and events have told. */
function coming() {
    const { names, frame } = globalThis.begun;
    const told = () => {
        if (document.querySelector(':is(#room, #operations) > :not(.skeleton)') === null) return ['the first room'];
        const busy = [...document.querySelectorAll('[aria-busy="true"]')].map((each) => `busy ${each.className}`);
        return [...busy, ...names.values()];
    };
    return new Promise((resolve) => frame(() => frame(() => resolve(told()))));
}

// Below those that the system gives to connections: a server that comes back finds its own still free.
const OWN_PORTS = { first: 20_000, count: 10_000 };

export class Server {
    /** On a free port, or on the one that it had before. */
    async start(port = 0) {
        this.port = undefined;
        this.child = spawn(process.env.POSENC_BINARY, ['serve', '--port', String(port), '--admin-listen', ''], {
            stdio: ['ignore', 'ignore', 'pipe'],
        });
        await within(STUCK_MS, 'the start of the server', this.#ready());
        if (this.port === undefined) throw new Error(`the server does not listen on port ${port}`);
        this.child.stderr.resume();
        this.url = `http://127.0.0.1:${this.port}`;
        return this;
    }

    async #ready() {
        for await (const line of createInterface({ input: this.child.stderr })) {
            const event = JSON.parse(line);
            if (event.event === 'listening') this.port = event.port;
            if (event.event === 'ready') return;
        }
    }

    /** On a port that nothing else takes while it is stopped. */
    async startOwn() {
        const port = OWN_PORTS.first + (process.pid % OWN_PORTS.count);
        return this.start(port).catch(() => this.start(port + 1));
    }

    async stop() {
        if (this.child.exitCode !== null || this.child.signalCode !== null) return;
        const ended = once(this.child, 'exit');
        this.child.kill('SIGTERM');
        await within(STUCK_MS, 'the end of the server', ended).catch((error) => {
            this.child.kill('SIGKILL');
            throw error;
        });
    }
}

export class Bench {
    static async open() {
        const bench = new Bench();
        bench.server = await new Server().start();
        bench.browser = await chromium.launch({
            executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
            args: ['--no-sandbox'],
        });
        bench.contexts = [];
        bench.complaints = [];
        mkdirSync(`${folder}/pictures`, { recursive: true });
        return bench;
    }

    /**
     * A page of its own profile. `refused`: errors of requests are expected, of which browsers tell on the console.
     */
    async page(hash = '', { refused = false, search = '', server = this.server, ...options } = {}) {
        const context = await this.browser.newContext({
            viewport: { width: 1280, height: 900 },
            reducedMotion: 'reduce',
            ...options,
        });
        this.contexts.push(context);
        const page = await context.newPage();
        page.setDefaultTimeout(STUCK_MS);
        page.on('pageerror', (error) => this.complaints.push(`an error: ${error.stack}`));
        page.on('console', (message) => {
            if (!(refused && message.text().startsWith('Failed to load resource')))
                this.complaints.push(`on the console: ${message.text()}`);
        });
        page.on('request', (request) => {
            if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== server.url)
                this.complaints.push(`a request to another origin: ${request.url()}`);
        });
        await page.addInitScript(watch);
        await page.goto(`${server.url}/${search}${hash}`);
        await this.settled(page);
        return page;
    }

    /** Wait until all that was asked for has been answered and drawn, and the address has been written. */
    async settled(page) {
        const began = Date.now();
        for (let quiet = 0; quiet < 3; quiet++) {
            const left = await within(STUCK_MS, 'a frame of the page', page.evaluate(coming));
            if (left.length === 0) continue;
            if (Date.now() - began > STUCK_MS) throw new Error(`still to come: ${left.join(', ')}`);
            quiet = -1;
        }
    }

    /** Wait for what only the page knows. */
    async until(page, what, holds, given) {
        await within(STUCK_MS, what, page.waitForFunction(holds, given));
    }

    /** The address, once what has happened so far is written in it. */
    async address(page) {
        await this.settled(page);
        return page.evaluate(() => location.hash);
    }

    /** The text of an element, once what it says has come. */
    async text(page, selector) {
        await this.settled(page);
        return page.textContent(selector);
    }

    /** The facts of a read-out, by name. */
    async readout(page, selector = '.readout:not(.scalars)') {
        await this.settled(page);
        return page.$eval(selector, (list) =>
            Object.fromEntries([...list.children].map((each) => [...each.children].map((cell) => cell.textContent))),
        );
    }

    /** Type into a list that is searched, and take what it finds. */
    async choose(page, parameter, text) {
        const field = page.locator(`[data-parameter="${parameter}"] input.search`);
        await field.click();
        await field.fill(text);
        await field.press('Enter');
        await this.settled(page);
    }

    /** The numbers of the first table on demand within an element, row by row. */
    async table(page, selector) {
        await page.locator(`${selector} summary:text-is("Table")`).first().click();
        await this.settled(page);
        return page.$eval(`${selector} details[open] table`, (table) =>
            [...table.tBodies[0].rows].map((row) =>
                [...row.cells].slice(1).map((cell) => Number(cell.textContent.replaceAll('−', '-'))),
            ),
        );
    }

    /** What the exercises of a room say to these answers, in their order. */
    async answered(page, answers) {
        const said = [];
        for (const [i, text] of answers.entries()) {
            const form = page.locator('.exercise').nth(i);
            await form.locator('input').fill(text);
            await form.locator('button').click();
            await this.settled(page);
            said.push(await form.locator('.verdict').textContent());
        }
        return said;
    }

    /** What the server itself says. */
    async json(path) {
        return (await fetch(this.server.url + path)).json();
    }

    async raw(path) {
        return new Uint8Array(await (await fetch(this.server.url + path)).arrayBuffer());
    }

    /** The rooms of the navigation. */
    async rooms() {
        if (this.names === undefined) {
            const page = await this.page();
            this.names = await page.$$eval('#rooms a', (links) => links.map((link) => link.dataset.room));
        }
        return this.names;
    }

    /** Fails when a page has complained. */
    check() {
        if (this.complaints.length > 0) throw new Error(this.complaints.join('\n'));
    }

    async clear() {
        this.complaints = [];
        for (const context of this.contexts.splice(0)) await context.close();
    }

    async close() {
        await this.browser.close();
        await this.server.stop();
    }
}
