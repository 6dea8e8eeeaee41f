// speed.js - what is measured and reported; nothing here fails on a clock.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { folder } from '../bench.js';

const NETWORK = { offline: false, latency: 40, downloadThroughput: 10e6 / 8, uploadThroughput: 10e6 / 8 };
const RUNS = 5;
const FRAMES = 180;
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

const report = {};
function note(name, value) {
    report[name] = value;
    console.log(`      ${name}: ${value}`);
    writeFileSync(`${folder}/speed.json`, `${JSON.stringify(report, null, 4)}\n`);
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
    'frames a second while panning 4096 x 512': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=512&positions=0:4096&win=0,2048,0,512');
        await drag(page, 30); // The code has been compiled.
        const { frames, busy } = await traced(bench, page, () => drag(page, FRAMES));
        const gaps = frames.slice(1).map((ts, i) => ts - frames[i]);
        note('frames a second while panning', ((1000 * gaps.length) / (frames.at(-1) - frames[0])).toFixed(1));
        note('milliseconds between frames, middle', middle(gaps).toFixed(1));
        note('milliseconds of the main thread a frame', (busy / FRAMES).toFixed(1));
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
                await page.addInitScript(() => {
                    // The picture is there when a canvas or a curve has been drawn that was not there before.
                    const look = () => {
                        const canvas = document.querySelector('canvas.heatmap');
                        const pixel =
                            canvas && canvas.width > 100 && canvas.getContext('2d').getImageData(80, 30, 60, 60).data;
                        const drawn =
                            (pixel && new Set(new Uint32Array(pixel.buffer)).size > 4) ||
                            document.querySelector('svg.curve path.line, svg.curve circle, svg .hand');
                        if (drawn) globalThis.firstPicture = performance.now();
                        else requestAnimationFrame(look);
                    };
                    requestAnimationFrame(look);
                });
                await page.goto(`${bench.server.url}/#/${room}`);
                await page
                    .waitForFunction(() => globalThis.firstPicture !== undefined, null, { timeout: 10_000 })
                    .catch(() => undefined);
                const time = await page.evaluate(() => globalThis.firstPicture);
                if (time !== undefined) times.push(time);
                await context.close();
            }
            note(
                `milliseconds to the first picture, ${room}`,
                times.length === 0 ? 'no heatmap or curve' : middle(times).toFixed(0),
            );
        }
    },
};
