// axes.js - the story of the room: positions of tokens are the server's, and each pair is turned by one axis.
import assert from 'node:assert/strict';

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
        assert.match(await bench.address(page), /at=21/);
        const { time, height, width } = await bench.readout(page);
        assert.deepEqual([time, height, width], ['6', '8', '9']);
    },
    'a model that counts time has seconds between its frames': async (bench) => {
        const page = await bench.page('#/axes?model=qwen2.5-vl-7b&kind=video&rows=2&columns=3&frames=2&seconds=2.5');
        await page.waitForSelector('[data-parameter="seconds"]:visible');
        await bench.settled(page);
        const { position_ids: expected } = await bench.json(
            '/v1/rope/mrope-positions?model=qwen2.5-vl-7b&token_runs=text:6,video,text:5&video_grid_thw=2,4,6' +
                '&second_per_grid_ts=2.5',
        );
        assert.deepEqual(await shown(page), expected.data);
        await bench.choose(page, 'model', 'qwen2-vl-2b');
        assert.equal(await page.isVisible('[data-parameter="seconds"]'), false);
    },
    'the table of the dials has where their hands stand': async (bench) => {
        const page = await bench.page('#/axes?at=14');
        const rows = await bench.table(page, ':has(> .dials)');
        const { cos, sin } = await bench.json('/v1/rope/table?model=qwen2-vl-2b&positions=6;7;8&dtype=float64');
        assert.deepEqual(
            rows,
            cos.data[0].map((each, pair) => [each, sin.data[0][pair]]),
        );
    },
    'a hand is explained with its numbers and bits': async (bench) => {
        const page = await bench.page('#/axes?at=14&pair=20');
        const facts = await bench.readout(page);
        const table = await bench.json('/v1/rope/table?model=qwen2-vl-2b&positions=6;7;8&dtype=float64');
        assert.match(facts.cos, new RegExp(`cos.*7.*·.*=\\s*${table.cos.data[0][20]}`, 's'));
        const bits = new DataView(new ArrayBuffer(8));
        bits.setFloat64(0, table.sin.data[0][20]);
        assert.equal(facts['bits of sin'], `0x${bits.getBigUint64(0).toString(16)}`);
    },
    'each of its parts stands alone in a frame': async (bench) => {
        for (const part of ['tokens', 'pairs', 'grids']) {
            const page = await bench.page(`#/axes?fig=${part}`, { search: '?embed=1' });
            const seen = await page.$$eval('.part', (list) =>
                list.filter((each) => each.offsetHeight > 0).map((each) => each.className),
            );
            assert.deepEqual(seen, [`part part-${part}`]);
            assert.equal(await page.isVisible('.panel'), false);
            await page.context().close();
        }
    },
    'each pair has an axis, in sections or in turns': async (bench) => {
        const page = await bench.page('#/axes');
        assert.deepEqual(await owned(page), ['time16 pairs: 0–15', 'height24 pairs: 16–39', 'width24 pairs: 40–63']);
        assert.deepEqual(await owned(page, '.part-grids'), ['row16 pairs: 0–15', 'column16 pairs: 16–31']);
        await bench.choose(page, 'model', 'qwen3.5-9b');
        assert.match((await owned(page))[0], /^time11 pairs: 0, 3, 6, 9/);
    },
    'the grid is that of the model’s encoder, or of any convention': async (bench) => {
        const page = await bench.page('#/axes?model=qwen2.5-vl-7b&at=14');
        const hand = (of) => of.$eval('.part-grids [data-pair="3"] line', (line) => Number(line.getAttribute('x2')));
        assert.deepEqual(await owned(page, '.part-grids'), ['row20 pairs: 0–19', 'column20 pairs: 20–39']);
        assert.match(
            await page.textContent('.part-grids .note'),
            /qwen2\.5-vl-7b: heads of 80 channels, 8 × 12 patches/,
        );
        const own = await bench.json('/v1/rope/grid?model=qwen2.5-vl-7b&spatial_merge_size=1&height=8&width=12');
        // Token 14 is the patch in row 1, column 2.
        assert.ok(Math.abs((await hand(page)) - 9 * own.cos.data[2 * 12 + 4][3]) < 1e-6);
        const other = await bench.page('#/axes?model=qwen2.5-vl-7b&at=14&convention=dinov3');
        const dino = await bench.json('/v1/rope/grid?convention=dinov3&head_dim=64&height=8&width=12');
        assert.ok(Math.abs((await hand(other)) - 9 * dino.cos.data[2 * 12 + 4][3]) < 1e-6);
        assert.match(await other.textContent('.part-grids .note'), /^dinov3: heads of 64 channels/);
    },
    'the exercises know their answers': async (bench) => {
        const page = await bench.page('#/axes');
        const said = await bench.answered(page, ['13', '24']);
        assert.ok(
            said.every((each) => each.startsWith('Right')),
            said.join(' '),
        );
    },
};
