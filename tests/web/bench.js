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

// A request that is under way for so long will not end.
const STUCK_MS = 120_000;

// Longer than the page waits before it writes its address. Timers of a page end in the order of their ends.
const WRITTEN_MS = 200;

/** A server on a free port, or on one that it had before. */
export class Server {
    async start(port = 0) {
        this.child = spawn(process.env.POSENC_BINARY, ['serve', '--port', String(port), '--admin-listen', ''], {
            stdio: ['ignore', 'ignore', 'pipe'],
        });
        for await (const line of createInterface({ input: this.child.stderr })) {
            const event = JSON.parse(line);
            if (event.event === 'listening') this.port = event.port;
            if (event.event === 'ready') break;
        }
        this.child.stderr.resume();
        this.url = `http://127.0.0.1:${this.port}`;
        return this;
    }

    async stop() {
        const ended = once(this.child, 'exit');
        this.child.kill('SIGTERM');
        await ended;
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
        page.setDefaultTimeout(30_000);
        page.on('pageerror', (error) => this.complaints.push(`an error: ${error.stack}`));
        page.on('console', (message) => {
            if (!(refused && message.text().startsWith('Failed to load resource')))
                this.complaints.push(`on the console: ${message.text()}`);
        });
        page.on('request', (request) => {
            if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== server.url)
                this.complaints.push(`a request to another origin: ${request.url()}`);
        });
        page.underWay = new Set();
        page.on('request', (request) => page.underWay.add(request));
        for (const end of ['requestfinished', 'requestfailed'])
            page.on(end, (request) => page.underWay.delete(request));
        await page.goto(`${server.url}/${search}${hash}`);
        await this.settled(page);
        return page;
    }

    /** Wait until nothing is busy and no request is under way, and what was asked for has been drawn. */
    async settled(page) {
        const frames = () =>
            page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
        await page.waitForFunction(
            () =>
                document.querySelector(':is(#room, #operations) > :not(.skeleton)') &&
                !document.querySelector('[aria-busy="true"]'),
        );
        const began = Date.now();
        for (let quiet = 0; quiet < 3; quiet++) {
            await frames();
            if (Date.now() - began > STUCK_MS)
                throw new Error(`never answered: ${[...page.underWay].map((request) => request.url()).join(' ')}`);
            if (page.underWay.size > 0) quiet = -1;
        }
    }

    /** The address, once what has happened so far is written in it. */
    async address(page) {
        await this.settled(page);
        return page.evaluate(
            (wait) => new Promise((resolve) => setTimeout(() => resolve(location.hash), wait)),
            WRITTEN_MS,
        );
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

/** The facts of a read-out, by name. */
export async function readout(page, selector = '.readout:not(.scalars)') {
    return page.$eval(selector, (list) =>
        Object.fromEntries(
            [...list.querySelectorAll('div')].map((each) => [
                each.children[0].textContent,
                each.children[1].textContent,
            ]),
        ),
    );
}

/** What the exercises of a room say to these answers, in their order. */
export async function answered(page, answers) {
    const said = [];
    for (const [i, text] of answers.entries()) {
        const form = page.locator('.exercise').nth(i);
        await form.locator('input').fill(text);
        await form.locator('.verdict').evaluate((verdict) => (verdict.textContent = ''));
        await form.locator('button').click();
        await form.locator('.verdict:not(:empty)').waitFor();
        said.push(await form.locator('.verdict').textContent());
    }
    return said;
}
