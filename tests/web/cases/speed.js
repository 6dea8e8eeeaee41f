// speed.js - what is measured and reported; nothing here fails on a clock.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { folder } from '../bench.js';

const NETWORK = { offline: false, latency: 40, downloadThroughput: 10e6 / 8, uploadThroughput: 10e6 / 8 };
const RUNS = 5;
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

const report = {};
function note(name, value) {
    report[name] = value;
    console.log(`      ${name}: ${value}`);
    writeFileSync(`${folder}/speed.json`, `${JSON.stringify(report, null, 4)}\n`);
}

/** Frames that the browser drew while `act` ran, by its own tracing. */
async function frames(bench, page, act) {
    await bench.browser.startTracing(page, {
        categories: [
            'disabled-by-default-devtools.timeline.frame',
            'devtools.timeline.frame',
            'devtools.timeline',
            'benchmark',
        ],
    });
    await act();
    const { traceEvents } = JSON.parse((await bench.browser.stopTracing()).toString());
    const drawn = traceEvents.filter(({ name }) => name === 'DrawFrame').map(({ ts }) => ts);
    return drawn.sort((a, b) => a - b);
}

export const cases = {
    'frames a second while panning 4096 x 512': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=512&positions=0:4096&win=0,2048,0,512', {
            reducedMotion: null,
        });
        const box = await (await page.$('canvas.heatmap')).boundingBox();
        const [x, y] = [box.x + box.width / 2, box.y + box.height - 60];
        await page.mouse.move(x, y);
        await page.mouse.down();
        const drawn = await frames(bench, page, async () => {
            for (let i = 0; i < 120; i++) await page.mouse.move(x, y - 3 * i);
        });
        await page.mouse.up();
        const gaps = drawn.slice(1).map((ts, i) => (ts - drawn[i]) / 1000);
        const seconds = (drawn.at(-1) - drawn[0]) / 1e6;
        note('frames a second while panning', (gaps.length / seconds).toFixed(1));
        note('milliseconds between frames, middle', middle(gaps).toFixed(1));
        note(
            'milliseconds between frames, the longest of a hundred',
            gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.99)].toFixed(1),
        );
        const work = await page.evaluate(
            () =>
                new Promise((resolve) => {
                    const canvas = document.querySelector('canvas.heatmap');
                    const times = [];
                    const step = () => {
                        const began = performance.now();
                        canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'PageDown' }));
                        requestAnimationFrame(() => {
                            times.push(performance.now() - began);
                            if (times.length < 20) step();
                            else resolve(times);
                        });
                    };
                    step();
                }),
        );
        note('milliseconds from a key to its frame, middle', middle(work).toFixed(1));
        assert.ok(drawn.length > 10);
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
