// looks.js - every room at three widths in two themes: pictures, no sideways scrolling, nothing that axe finds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { folder, require } from '../bench.js';

const CORE = process.argv.includes('core'); // which has six minutes: no pictures, and not the widest
const WIDTHS = { light: CORE ? [360, 768, 1280] : [360, 768, 1280, 2560], dark: CORE ? [360] : [360, 1280, 2560] };
const WIDEST = 3840;
const THEMES = ['light', 'dark'];
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, level AAA too, as lines. The page lets no script in by an element, but by the debugger. */
export async function findings(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => {
        const more = globalThis.axe.getRules(['wcag2aaa', 'wcag22aa']);
        const rules = Object.fromEntries(more.map(({ ruleId }) => [ruleId, { enabled: true }]));
        return globalThis.axe.run(document, { resultTypes: ['violations'], rules });
    });
    return violations.flatMap(({ id, impact, nodes }) =>
        nodes.map((node) => `${impact} ${id}: ${node.html.slice(0, 160)} ${node.failureSummary}`),
    );
}

// Of the page's height and width, as browsers report it: what moves, times how far.
const SHIFT_MAX = 0.05;

/** Runs in a page: how far its layout has shifted without a hand on it. A page that never shifted has no entry. */
function shifted() {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: 'layout-shift', buffered: true });
    return observer.takeRecords().reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0);
}

/** Runs in a page: the letters of drawings that lie over others, in pairs. */
function crowded() {
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll('svg')].flatMap((picture) => {
        const texts = [...picture.querySelectorAll('text')].filter((text) => text.textContent !== '');
        const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
        return boxes.flatMap((one, i) =>
            boxes.slice(i + 1).flatMap((other) => (over(one.box, other.box) ? [`${one.text} and ${other.text}`] : [])),
        );
    });
}

/** Places that have a room's parts open, and more than its first state. */
const PLACES = {
    words: ['#/words', '#/words?at=0,2&to=2,1,0'],
    models: ['#/models', '#/models?model=gpt-oss-20b&beside=gemma-3-4b'],
    waves: ['#/waves?at=40,10', '#/waves?numerics=float32'],
    reach: ['#/reach?pair=50', '#/reach?model=llama-3.1-8b&types=default,llama3,naive', '#/reach?numerics=float32'],
    rotations: ['#/rotations', '#/rotations?numerics=float32&angle=bfloat16'],
    axes: ['#/axes', '#/axes?model=qwen2.5-vl-7b&kind=video&seconds=2&at=30&pair=20'],
    biases: ['#/biases?num_heads=16', '#/biases?scheme=t5&bucket=12', '#/biases?scheme=swin'],
    doctor: ['#/doctor', '#/doctor?sample=base&rope_theta=500000', '#/doctor?sample=right&encoding=sinusoidal'],
    any: [
        '#/any/sinusoidal?d_model=64&at=5,10',
        '#/any/alibi/bias?num_heads=8&query_length=64',
        '#/any/rope/frequencies?head_dim=128&at=10',
        '#/any/rope/rotate',
        '#/any/sinusoidal?d_model=64&positions=0:1000000&at=5,10',
    ],
};

/** For people to look at; no case reads it, so `core` goes without. */
async function picture(page, name) {
    if (!CORE)
        await page.screenshot({ path: `${folder}/pictures/${name}.png`, fullPage: !name.includes(`-${WIDEST}-`) });
}

async function look(bench, place, name) {
    for (const colorScheme of THEMES) {
        const page = await bench.page(place, { colorScheme });
        for (const width of WIDTHS[colorScheme]) {
            await page.setViewportSize({ width, height: width < 500 ? 800 : 900 });
            await bench.settled(page);
            const wide = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            const words = await page.evaluate(() => document.body.innerText);
            assert.doesNotMatch(words, /\[object |undefined|NaN/, place);
            assert.ok(wide <= 0, `${place} scrolls sideways by ${wide} at ${width}`);
            await picture(page, `${name}-${width}-${colorScheme}`);
            // The narrow page in both themes, the others in one each.
            if (width !== (colorScheme === 'light' ? 2560 : 1280))
                assert.deepEqual(await findings(page), [], `${place} at ${width}, ${colorScheme}`);
        }
        await page.context().close();
    }
}

export const cases = {
    'every room is whole at each width and theme, and axe finds nothing': async (bench) => {
        for (const room of await bench.rooms())
            for (const [i, place] of (PLACES[room] ?? [`#/${room}`]).entries())
                await look(bench, place, i === 0 ? room : `${room}-${i}`);
    },
    'nothing scrolls sideways on a screen of 4K': async (bench) => {
        for (const room of CORE ? ['words'] : await bench.rooms()) {
            const page = await bench.page(`#/${room}`, { viewport: { width: WIDEST, height: 2160 } });
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), WIDEST, room);
            await picture(page, `${room}-${WIDEST}-light`);
            await page.context().close();
        }
    },
    'what is there stays where it is while a room comes': async (bench) => {
        for (const room of ['', ...(await bench.rooms())])
            for (const width of [360, 1280]) {
                const page = await bench.page(`#/${room}`, { viewport: { width, height: 800 } });
                assert.equal(await page.locator('[aria-busy]').count(), 0, room);
                const shift = await page.evaluate(shifted);
                assert.ok(shift <= SHIFT_MAX, `#/${room} at ${width} shifts by ${shift}`);
                await page.context().close();
            }
        const page = await bench.page();
        const before = await page.evaluate(shifted);
        await page.evaluate(() => document.body.prepend(document.createElement('hr')));
        await bench.settled(page);
        assert.ok((await page.evaluate(shifted)) > before, 'a shift is seen');
    },
    'what is chosen is seen with the colours of the system, and letters of twice the size have room': async (bench) => {
        const page = await bench.page('#/words', { forcedColors: 'active' });
        const backgrounds = await page.$$eval('[data-parameter="third panel"] input + span', (list) =>
            list.map((each) => getComputedStyle(each).backgroundColor),
        );
        assert.equal(new Set(backgrounds).size, 2, backgrounds.join());
        for (const room of ['', ...(CORE ? ['reach', 'waves'] : await bench.rooms())]) {
            const large = await bench.page(`#/${room}`);
            await large.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
            for (const width of [1280, 360]) {
                await large.setViewportSize({ width, height: 800 });
                await bench.settled(large);
                const wide = await large.evaluate(() => document.documentElement.scrollWidth);
                assert.ok(wide <= width, `#/${room} is ${wide} pixels wide at ${width}`);
                assert.deepEqual(await large.evaluate(crowded), [], `#/${room} has letters over letters at ${width}`);
            }
            await large.context().close();
        }
    },
    'nothing is hidden from axe: all parts open': async (bench) => {
        const page = await bench.page('#/any/rope/table?head_dim=64&at=3,4');
        for (const summary of await page.$$('summary:not(.sheet > *)')) await summary.click();
        await bench.settled(page);
        assert.deepEqual(await findings(page), []);
    },
    'the colours of the page are those of the figures': async () => {
        const [page, figures] = ['web/parts/palette.js', 'formats/figure/palette.c'].map((path) =>
            readFileSync(new URL(`../../../src/${path}`, import.meta.url), 'utf8').match(/0xffffff(,\s+0x\w{6}){16}/g),
        );
        const stops = (lists) => lists.map((list) => list.split(/,\s+/));
        assert.equal(page.length, 3);
        assert.deepEqual(stops(page), stops(figures));
    },
    'a window that is resized shows the same cells': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64&at=5,10');
        const read = () => page.textContent('.readout');
        const before = await read();
        for (const width of [360, 1800]) {
            await page.setViewportSize({ width, height: 700 });
            await bench.settled(page);
            const [drawn, shown] = await page.$eval('canvas.heatmap', (canvas) => [
                canvas.width,
                Math.round(canvas.clientWidth * devicePixelRatio),
            ]);
            assert.equal(drawn, shown);
            assert.equal(await read(), before);
        }
    },
};
