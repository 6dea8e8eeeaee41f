// speed.js - what is measured and reported, as the table of src/web/README.md; nothing here fails on a clock.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { folder } from '../bench.js';
import { weight } from './assets.js';
import { findings } from './looks.js';

const NETWORK = { offline: false, latency: 40, downloadThroughput: 10e6 / 8, uploadThroughput: 10e6 / 8 };
const RUNS = 3;
const FRAMES = 180;
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// Where a room shows nothing before something is chosen, and what its first picture is.
const STARTS = { doctor: 'doctor?sample=base&rope_theta=500000', any: 'any/sinusoidal?d_model=64&positions=0:128' };
const PICTURES = 'svg.curve path.line, svg.curve circle, svg .hand, .scheme [data-pair], .dial-pair line, .lane';

const rows = [];
function note(what, value, aim = '') {
    rows.push(`| ${what} | ${value} | ${aim} |`);
    console.log(`      ${what}: ${value}`);
}

/** The table, on the console and in a file. */
function table() {
    const [{ model }, { length }] = [cpus()[0], cpus()];
    const words = [
        '| what | measured | aim |',
        '| --- | --- | --- |',
        ...rows,
        '',
        `Measured on ${new Date().toISOString().slice(0, 10)}, ${length} cores of ${model.trim()}, load ${loadavg()[0].toFixed(0)}, drawn by software.`,
    ].join('\n');
    writeFileSync(`${folder}/measured.md`, `${words}\n`);
    console.log(words);
}

/** What the browser traced while `act` ran: its frames, and the processor time of the page's main thread. */
async function traced(bench, page, act) {
    const categories = [
        'disabled-by-default-devtools.timeline.frame',
        'devtools.timeline.frame',
        'devtools.timeline',
        'toplevel',
    ];
    await bench.browser.startTracing(page, { categories });
    await act();
    const { traceEvents } = JSON.parse((await bench.browser.stopTracing()).toString());
    const named = (name) => traceEvents.filter((event) => event.name === name);
    const main = named('thread_name').find(({ args }) => args.name === 'CrRendererMain');
    const tasks = traceEvents.filter(
        ({ name, pid, tid }) => /RunTask$/.test(name) && pid === main.pid && tid === main.tid,
    );
    return {
        frames: named('DrawFrame')
            .map(({ ts }) => ts / 1000)
            .sort((a, b) => a - b),
        busy: tasks.reduce((sum, { tdur = 0 }) => sum + tdur / 1000, 0),
    };
}

/** Drag the picture by some pixels in each frame, for some frames; within the page, so that nothing else sets the pace. */
function drag(page, frames) {
    return page.evaluate(
        (most) =>
            new Promise((resolve) => {
                const canvas = document.querySelector('canvas.heatmap');
                canvas.setPointerCapture = () => undefined;
                const { left, bottom, width } = canvas.getBoundingClientRect();
                const send = (type, i) =>
                    canvas.dispatchEvent(
                        new PointerEvent(type, {
                            pointerId: 1,
                            clientX: left + width / 2,
                            clientY: bottom - 60 - 3 * i,
                            bubbles: true,
                        }),
                    );
                send('pointerdown', 0);
                const step = (i) => {
                    send('pointermove', i);
                    if (i < most) return requestAnimationFrame(() => step(i + 1));
                    send('pointerup', i);
                    resolve();
                };
                requestAnimationFrame(() => step(1));
            }),
        frames,
    );
}

export const cases = {
    'the weight of the page': async (bench) => {
        const [zstd, gzip] = await Promise.all(['zstd', 'gzip'].map((coding) => weight(bench, coding)));
        const text = [zstd, gzip].map((bytes) => (bytes / 1024).toFixed(0)).join(' / ');
        note('the page with all rooms, zstd / gzip', `${text} KB`, '120 KB');
        assert.ok(zstd > 0);
    },
    'frames a second while panning 4096 x 512': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=512&positions=0:4096&win=0,2048,0,512');
        await drag(page, 30); // The code has been compiled.
        const { frames, busy } = await traced(bench, page, () => drag(page, FRAMES));
        const gaps = frames.slice(1).map((ts, i) => ts - frames[i]);
        note(
            'frames a second, panning 4096 x 512',
            ((1000 * gaps.length) / (frames.at(-1) - frames[0])).toFixed(1),
            60,
        );
        note('time between frames, middle', `${middle(gaps).toFixed(1)} ms`, '16.7 ms');
        note('processor time of the main thread, a frame', `${(busy / FRAMES).toFixed(1)} ms`, '16.7 ms');
        assert.ok(frames.length > 10);
    },
    'time to the first picture, cold cache, 10 Mbit/s and 40 ms': async (bench) => {
        for (const room of await bench.rooms()) {
            const times = [];
            for (let run = 0; run < RUNS; run++) {
                const context = await bench.browser.newContext({ viewport: { width: 1280, height: 900 } });
                const page = await context.newPage();
                const devtools = await context.newCDPSession(page);
                await devtools.send('Network.enable');
                await devtools.send('Network.emulateNetworkConditions', NETWORK);
                await page.addInitScript((pictures) => {
                    // The picture is there when a canvas or a curve has been drawn that was not there before.
                    const look = () => {
                        const cells = [...document.querySelectorAll('canvas.heatmap')].some((canvas) => {
                            const [x, y] = [canvas.width * 0.4, canvas.height * 0.4];
                            if (x < 20 || y < 20) return false;
                            const { data } = canvas.getContext('2d').getImageData(x, y, x / 2, y / 2);
                            return new Set(new Uint32Array(data.buffer)).size > 4;
                        });
                        const drawn = cells || document.querySelector(pictures);
                        if (drawn) globalThis.firstPicture = performance.now();
                        else requestAnimationFrame(look);
                    };
                    requestAnimationFrame(look);
                }, PICTURES);
                await page.goto(`${bench.server.url}/#/${STARTS[room] ?? room}`, { waitUntil: 'commit' });
                await page
                    .waitForFunction(() => globalThis.firstPicture !== undefined, null, { timeout: 10_000 })
                    .catch(() => undefined);
                const time = await page.evaluate(() => globalThis.firstPicture);
                if (time !== undefined) times.push(time);
                await context.close();
            }
            assert.ok(times.length > 0, `${room} shows no picture`);
            note(`first picture of ${room}, cold cache, 10 Mbit/s and 40 ms`, `${middle(times).toFixed(0)} ms`, '1 s');
        }
    },
    'what axe finds, and the table': async (bench) => {
        for (const room of await bench.rooms()) {
            const page = await bench.page(`#/${STARTS[room] ?? room}`);
            note(`findings of axe-core, any level, ${room}`, (await findings(page)).length, 0);
            await page.context().close();
        }
        table();
        assert.ok(rows.length > 0);
    },
};
