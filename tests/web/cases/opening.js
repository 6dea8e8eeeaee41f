// opening.js - the first screen, the path through the chapters, and the layers of models.
import assert from 'node:assert/strict';
import { findings } from './looks.js';

export const cases = {
    'the picture of the first screen follows the pointer': async (bench) => {
        const page = await bench.page();
        const said = () => bench.text(page, '.hero .caption');
        assert.match(await said(), /^Position 40, dimension 12: /);
        const box = await (await page.$('canvas.heatmap')).boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 3);
        const [, row, column, value] = (await said()).match(/^Position (\d+), dimension (\d+):.* = (\S+)$/);
        const { data } = await bench.json(`/v1/sinusoidal?d_model=128&positions=${row}`);
        assert.equal(Number(value.replace('−', '-')), data[0][column]);
        await page.click('.phrase >> nth=2');
        assert.match(await said(), /dimension 126/);
        assert.match(await bench.address(page), /at=100,126/);
    },
    'float32 is as far from exact as the tables say': async (bench) => {
        const page = await bench.page();
        await bench.settled(page);
        const shown = () => page.$$eval('.far b', (list) => list.map((each) => parseFloat(each.textContent)));
        assert.deepEqual(await shown(), [0.00024, 0.0078, 0.062]);
        await bench.choose(page, 'model', 'llama-3.1-8b');
        await bench.settled(page);
        const values = 'model=llama-3.1-8b&positions=4095&dtype=float64';
        const [a, b] = await Promise.all(
            ['exact', 'float32'].map((numerics) => bench.json(`/v1/rope/table?${values}&numerics=${numerics}`)),
        );
        const apart = Math.max(
            ...a.cos.data[0].map((c, i) => Math.hypot(c - b.cos.data[0][i], a.sin.data[0][i] - b.sin.data[0][i])),
        );
        const [near, , far] = await shown();
        assert.ok(near * 1.05 >= apart && far > near && near < 0.00024 * 2, `${near} and ${far} for ${apart}`);
    },
    'two doors, and chapters before and after': async (bench) => {
        const page = await bench.page();
        assert.equal(await page.locator('.path a').count(), 0);
        await page.click('.door >> nth=0');
        await bench.settled(page);
        const seen = [];
        for (;;) {
            seen.push(await page.textContent('#rooms a[aria-current]'));
            assert.ok((await page.title()).endsWith(' – posenc'));
            const line = await page.getAttribute('meta[property="og:description"]', 'content');
            assert.equal(line, await page.getAttribute('meta[name=description]', 'content'));
            if ((await page.locator('.path a[rel=next]').count()) === 0) break;
            await page.click('.path a[rel=next]');
            await bench.settled(page);
        }
        assert.deepEqual(
            seen.map((each) => Number(each[0])),
            [1, 2, 3, 4, 5, 6, 7, 8, 9],
        );
        assert.match(await page.textContent('.path a[rel=prev]'), /8 Which is which/);
        assert.equal(await page.title(), 'Check a table – posenc');
    },
    'the room is seen in its list on a narrow screen': async (bench) => {
        const page = await bench.page('#/doctor', { viewport: { width: 360, height: 800 } });
        const { x, width } = await page.locator('#rooms [aria-current]').boundingBox();
        assert.ok(x >= 0 && x + width <= 360, `${x} to ${x + width}`);
        assert.equal(await page.evaluate(() => scrollY), 0);
    },
    'which layers of Llama 4 do not rotate': async (bench) => {
        const page = await bench.page('#/models');
        const { resolved } = await bench.json('/v1/models/llama-4-scout-17b-16e');
        const still = resolved.layers.find(({ encoding }) => encoding === 'none').indices;
        assert.match(
            await bench.text(page, '.model .caption'),
            new RegExp(`48 layers, 12 do not rotate: ${still.join(', ')}`),
        );
        const lanes = await page.$$eval('.lane.still', (list) => list.map((each) => Number(each.dataset.layer)));
        assert.deepEqual(lanes, still);
        await page.hover('.lane >> nth=3');
        assert.match(await page.textContent('.model .caption'), /^Layer 3 does not rotate/);
    },
    'two models side by side, with their windows and factors': async (bench) => {
        const page = await bench.page('#/models?model=gpt-oss-20b&beside=gemma-3-4b');
        const rows = await page.$$eval('.model', (list) =>
            list.map((each) => [...each.querySelectorAll('tbody tr')].map((row) => row.textContent)),
        );
        assert.deepEqual(
            rows.map((each) => each.length),
            [2, 2],
        );
        const { attention_factor } = await bench.json('/v1/rope/frequencies?model=gpt-oss-20b');
        assert.ok(
            rows[0].every((row) => row.endsWith(String(Number(attention_factor.toPrecision(6))))),
            rows[0],
        );
        assert.ok(
            rows[0].some((row) => row.includes('128 tokens')) && rows[1].some((row) => row.includes('1024 tokens')),
        );
        assert.match(rows[1].join(), /linear × 8/);
    },
    'a configuration of one’s own has lanes, too': async (bench) => {
        const page = await bench.page('#/models');
        await page.click('summary:text("Paste a config.json")');
        const config = {
            model_type: 'smollm3',
            num_hidden_layers: 8,
            hidden_size: 512,
            num_attention_heads: 8,
            no_rope_layers: [1, 1, 1, 0, 1, 1, 1, 0],
        };
        await page.fill('.config textarea', JSON.stringify(config));
        await page.press('.config textarea', 'Tab');
        assert.match(await bench.text(page, '.model .caption'), /Of 8 layers, 2 do not rotate: 3, 7/);
    },
    'axe finds nothing on the first screen': async (bench) => {
        for (const width of [360, 1280]) {
            const page = await bench.page('', {
                viewport: { width, height: 800 },
                colorScheme: width > 999 ? 'dark' : 'light',
            });
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wide <= 0, `it scrolls sideways by ${wide}`);
            assert.deepEqual(await findings(page), []);
        }
    },
};
