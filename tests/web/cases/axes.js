// axes.js - the story of the room: positions of tokens are the server's, and each pair is turned by one axis.
import assert from 'node:assert/strict';
import { answered, readout } from '../bench.js';

const owned = (page, room = '.stage') =>
    page.$$eval(`${room} .owned li`, (list) => list.map((each) => each.textContent));

/** The positions that all tokens show, axis by axis. */
const shown = (page) =>
    page.$$eval('[data-token]', (list) =>
        [0, 1, 2].map((axis) => list.map((each) => Number(each.querySelector(`.axis-${axis}`).textContent))),
    );

export const cases = {
    'every token shows the positions of the server': async (bench) => {
        const page = await bench.page('#/axes?model=qwen2.5-vl-7b&kind=video&rows=2&columns=3&frames=2');
        const { position_ids: expected } = await bench.json(
            '/v1/rope/mrope-positions?model=qwen2.5-vl-7b&token_runs=text:6,video,text:5&video_grid_thw=2,4,6',
        );
        assert.deepEqual(await shown(page), expected.data);
    },
    'arrow keys move along the patches, and the address holds the token': async (bench) => {
        const page = await bench.page('#/axes');
        await page.focus('.sequence');
        for (const key of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
        await bench.settled(page);
        assert.match(await page.evaluate(() => location.hash), /at=21/);
        const { time, height, width } = await readout(page);
        assert.deepEqual([time, height, width], ['6', '8', '9']);
    },
    'each pair has an axis, in sections or in turns': async (bench) => {
        const page = await bench.page('#/axes');
        assert.deepEqual(await owned(page), ['time16 pairs: 0–15', 'height24 pairs: 16–39', 'width24 pairs: 40–63']);
        assert.deepEqual(await owned(page, '.grids'), ['row16 pairs: 0–15', 'column16 pairs: 16–31']);
        await page.click('label:has-text("qwen3.5-9b")');
        await bench.settled(page);
        assert.match((await owned(page))[0], /^time11 pairs: 0, 3, 6, 9/);
    },
    'the exercises know their answers': async (bench) => {
        const page = await bench.page('#/axes');
        const said = await answered(page, ['13', '24']);
        assert.ok(
            said.every((each) => each.startsWith('Right')),
            said.join(' '),
        );
    },
};
