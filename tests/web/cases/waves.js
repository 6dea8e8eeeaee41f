// waves.js - the lamps and waves follow the cursor, and float32 drifts from the exact angles.
import assert from 'node:assert/strict';

const number = (text) => parseFloat(text.replace('−', '-').replace('e−', 'e-'));

export const cases = {
    'the lamps are the signs of the sines': async (bench) => {
        const page = await bench.page('#/waves?at=100,0');
        const title = await page.textContent('.lamps title');
        const { data } = await bench.json('/v1/sinusoidal?d_model=64&positions=100');
        const signs = Array.from({ length: 20 }, (_, i) => (data[0][2 * (19 - i)] >= 0 ? 1 : 0)).join('');
        assert.equal(title, `Position 100: ${signs}, the slowest pair first`);
    },
    'the lamps have room for the numbers of far positions': async (bench) => {
        const page = await bench.page('#/waves?positions=10000000:10000004:0.25');
        assert.ok(await page.$$eval('.lamps text', (list) => list.every((each) => each.getBBox().x >= 0)));
    },
    'the fan is dragged and moved by keys, and the address keeps it': async (bench) => {
        const page = await bench.page('#/waves');
        const fan = page.locator('svg.fan');
        const to = async () => Number(await fan.getAttribute('aria-valuenow'));
        assert.equal(await to(), 64);
        await fan.scrollIntoViewIfNeeded();
        const box = await fan.boundingBox();
        await page.mouse.move(box.x + 232, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + 332, box.y + 60, { steps: 4 });
        await page.mouse.up();
        await bench.settled(page);
        assert.equal(await to(), 32);
        assert.match(await bench.address(page), /to=32/);
        await fan.focus();
        await page.keyboard.press('PageUp');
        await bench.settled(page);
        assert.equal(await to(), 64);
        assert.doesNotMatch(await bench.address(page), /to=/);
    },
    'the table of the fan has its waves': async (bench) => {
        const page = await bench.page('#/waves?from=-8&to=232');
        await page.click('.part-fan summary:text("Table")');
        await bench.settled(page);
        const read = (selector) => page.$$eval(`.part-fan ${selector}`, (list) => list.map((each) => each.textContent));
        const [rows, heads] = [await read('tbody tr'), await read('thead th')];
        assert.equal(rows.length, 481);
        const pairs = heads.map((head) => Number(head.match(/^sine of pair (\d+)$/)[1]));
        assert.deepEqual([pairs.length, pairs[0], pairs.at(-1)], [8, 0, 31]);
        const { data } = await bench.json('/v1/sinusoidal?d_model=64&positions=-8,232');
        for (const [i, row] of [rows[0], rows.at(-1)].entries())
            assert.equal(row.replaceAll('−', '-'), [[-8, 232][i], ...pairs.map((pair) => data[i][2 * pair])].join(''));
    },
    'float32 shows the error in radians, growing with the position': async (bench) => {
        const page = await bench.page('#/waves?numerics=float32&up=1048576');
        const keys = await page.$$eval('.drift .key li', (list) => list.map((each) => each.textContent));
        assert.deepEqual(keys, ['float32', 'bfloat16', 'float16']);
        const d = await page.$eval('.drift path.series-0', (path) => path.getAttribute('d'));
        const heights = d.match(/[ML][\d.]+ [\d.]+/g).map((point) => Number(point.split(' ')[1]));
        assert.ok(heights.at(-1) < heights[0] - 50, 'the error does not grow');
        await page.click('.drift label:has-text("bfloat16")');
        await bench.settled(page);
        await page.focus('.drift canvas');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('ArrowRight');
        const facts = await bench.readout(page, '.drift .readout');
        const found = await bench.json('/v1/rope/frequencies?head_dim=64&dtype=float64');
        const { inv_freq } = await bench.json('/v1/rope/frequencies?head_dim=64&dtype=bfloat16');
        assert.equal(Number(facts.frequency), found.inv_freq.data[1]);
        assert.equal(parseFloat(facts.wavelength), found.wavelength.data[1]);
        // A bfloat16 has 8 digits: from 4096 to 8191 the multiples of 32.
        const angle = 32 * Math.round((8192 * inv_freq.data[1]) / 32);
        assert.equal(number(facts['error, bfloat16']), angle - 8192 * found.inv_freq.data[1]);
        assert.match(await bench.address(page), /angle=bfloat16/);
        assert.match(await page.textContent('.drift .pair-of-pictures'), /error in radians/);
        const last = /position 1\u202f048\u202f576 .* ([\d.]+) rad with float32 .* ([\d.]+) rad with bfloat16/;
        const [float32, bfloat16] = (await page.textContent('.drift')).match(last).slice(1).map(Number);
        assert.ok(float32 > 0 && float32 < 1 && bfloat16 > 100, `${float32} and ${bfloat16}`);
    },
    'angles of 16 bits round the position and the product, too': async (bench) => {
        const page = await bench.page(`#/waves?numerics=float32&up=${128 * 4097}&angle=bfloat16&eat=1,0`);
        const facts = await bench.readout(page, '.drift .readout');
        assert.deepEqual([facts.position, facts.pair, facts.frequency], ['4097', '0', '1']);
        assert.equal(facts['error, bfloat16'], '−1 rad');
        for (const [numerics, name] of [
            ['exact', 'cosine, exact'],
            ['float32', 'cosine, float32'],
        ]) {
            const { data } = await bench.json(
                `/v1/sinusoidal?d_model=64&positions=4097&dtype=float64&numerics=${numerics}`,
            );
            assert.equal(number(facts[name]), data[0][1]);
        }
    },
    'the pictures of the error have one window and one cursor, and the address keeps them': async (bench) => {
        const page = await bench.page('#/waves?numerics=float32');
        await page.focus('.drift canvas >> nth=2');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', '+', '+']) await page.keyboard.press(key);
        const hash = await bench.address(page);
        assert.match(hash, /eat=2,1/);
        assert.match(hash, /ewin=/);
        const seen = (at) => at.$$eval('.drift canvas', (list) => list.map((canvas) => canvas.toDataURL()));
        const facts = await bench.readout(page, '.drift .readout');
        assert.equal(facts.pair, '1');
        const other = await bench.page(hash);
        assert.deepEqual(await bench.readout(other, '.drift .readout'), facts);
        assert.deepEqual(await seen(other), await seen(page));
        await page.keyboard.press('0');
        assert.doesNotMatch(await bench.address(page), /ewin=/);
    },
    'the exercises know the answers of the server': async (bench) => {
        const page = await bench.page('#/waves');
        const right = await bench.answered(page, ['0.9268', '54410']);
        assert.deepEqual(right, ['Right: 0.9267573132 ', 'Right: 54\u202f410.14313 positions']);
        assert.deepEqual(await bench.answered(page, ['0.9', 'x']), [
            'Not yet. The figures above have it.',
            'A number is asked for.',
        ]);
    },
    'one part of the room in a frame': async (bench) => {
        const page = await bench.page('#/waves?fig=fan', { search: '?embed=1' });
        assert.ok(await page.isVisible('svg.fan'));
        for (const other of ['.lamps', '.figure', '.story', 'header']) assert.ok(!(await page.isVisible(other)), other);
    },
};
