// reach.js - types side by side, two lengths, a model, and a pasted configuration.
import assert from 'node:assert/strict';

const LLAMA = {
    model_type: 'llama',
    hidden_size: 4096,
    num_attention_heads: 32,
    rope_theta: 500000,
    max_position_embeddings: 131072,
    vocab_size: 128256,
    rope_scaling: {
        rope_type: 'llama3',
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 8192,
    },
};

/** The tables of types: their numbers by name. */
const types = (page) =>
    page.$$eval('.types-table tbody tr', (rows) => {
        const found = {};
        for (const row of rows) {
            const [name, ...numbers] = [...row.children].map((cell) => cell.textContent);
            (found[name] ??= []).push(...numbers);
        }
        return found;
    });

export const cases = {
    'the numbers of the types are those of the comparison': async (bench) => {
        const page = await bench.page('#/reach?pair=50');
        const query =
            'head_dim=128&rope_theta=10000&max_position_embeddings=4096&target_length=32768&rope_types=default,linear,ntk,yarn';
        const found = await bench.json(`/v1/rope/compare?${query}&dtype=float64`);
        const rows = await types(page);
        for (const [i, name] of ['default', 'linear', 'ntk', 'yarn'].entries())
            assert.deepEqual(
                rows[name].map(Number),
                [
                    Math.max(...found.wavelength.data[i]),
                    ...['base', 'attention_factor', 'slow_pairs', 'unseen_pairs', 'largest_angle'].map(
                        (fact) => found[fact].data[i],
                    ),
                    ...['wavelength', 'stretch', 'turns'].map((fact) => found[fact].data[i][50]),
                ],
                name,
            );
        assert.ok(await page.isVisible('.zone'));
        const code = await page.textContent('[data-snippet="llama_cpp"] code');
        assert.equal(code, found.settings.yarn.llama_cpp.value);
    },
    "a publisher's own setting for a longer context counts": async (bench) => {
        const page = await bench.page('#/reach?model=qwen3-0.6b&types=published,yarn');
        await bench.settled(page);
        const { settings, parameters } = await bench.json(
            '/v1/rope/compare?model=qwen3-0.6b&target_length=131072&rope_types=yarn',
        );
        assert.deepEqual([parameters.factor, parameters.max_position_embeddings], [4, 32768]);
        const code = await page.textContent('[data-snippet="llama_cpp"] code');
        assert.equal(code, settings.yarn.llama_cpp.value);
    },
    'the tables of types do not scroll sideways from 1024 pixels on': async (bench) => {
        const page = await bench.page(
            '#/reach?model=llama-3.1-8b&types=default,linear,yarn,ntk_by_parts,naive&pair=50',
        );
        for (const width of [1280, 1024]) {
            await page.setViewportSize({ width, height: 800 });
            await bench.settled(page);
            assert.ok(await page.$eval('.types', (part) => part.scrollWidth <= part.clientWidth), `at ${width}`);
        }
    },
    'the table of a curve has every pair of every type': async (bench) => {
        const page = await bench.page('#/reach');
        await page.click('.part-stretch summary:text("Table")');
        await bench.settled(page);
        const rows = await page.$$eval('.part-stretch tbody tr', (list) =>
            list.map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
        );
        const { stretch } = await bench.json(
            '/v1/rope/compare?head_dim=128&max_position_embeddings=4096&target_length=32768&rope_types=default,linear,ntk,yarn&dtype=float64',
        );
        assert.deepEqual(
            rows,
            stretch.data[0].map((_, pair) => stretch.data.map((type) => type[pair])),
        );
    },
    'a pair is explained for each type, with its bits': async (bench) => {
        const page = await bench.page('#/reach?pair=50&types=default,yarn');
        const facts = await bench.readout(page, '.stage > .readout');
        const { inv_freq, stretch } = await bench.json(
            '/v1/rope/compare?head_dim=128&max_position_embeddings=4096&target_length=32768&rope_types=default,yarn&dtype=float64',
        );
        const plain = (text) => text.replaceAll('−', '-').replace(/\s/g, '');
        assert.equal(plain(facts['frequency, default']), `10000-100/128=${inv_freq.data[0][50]}`);
        assert.equal(plain(facts['frequency, yarn']), `10000-100/128/${stretch.data[1][50]}=${inv_freq.data[1][50]}`);
        const bits = new DataView(new ArrayBuffer(8));
        bits.setFloat64(0, inv_freq.data[1][50]);
        assert.equal(facts.bits, `0x${bits.getBigUint64(0).toString(16)}`);
    },
    'the names of the types stand at the ends of their curves, apart from each other': async (bench) => {
        const page = await bench.page('#/reach');
        const ends = await page.$$eval('.part-waves .ends text', (list) =>
            list.map((each) => [each.textContent, Number(each.getAttribute('y'))]),
        );
        assert.deepEqual(ends.map(([name]) => name).sort(), ['default', 'linear', 'ntk', 'yarn']);
        assert.ok(
            ends.every(([, y], i) => i === 0 || y - ends[i - 1][1] >= 15),
            JSON.stringify(ends),
        );
    },
    'the lengths are dragged and moved by keys': async (bench) => {
        const page = await bench.page('#/reach');
        const target = page.locator('.handle').nth(1);
        await target.focus();
        await page.keyboard.press('PageUp');
        await bench.settled(page);
        assert.equal(await target.getAttribute('aria-valuenow'), '65536');
        assert.match(await bench.address(page), /target_length=65536/);
        const trained = page.locator('.handle').nth(0);
        const box = await trained.boundingBox();
        await page.mouse.move(box.x + 100, box.y + 18);
        await page.mouse.down();
        await page.mouse.move(box.x + 100, box.y - 10, { steps: 3 });
        await page.mouse.up();
        await bench.settled(page);
        const now = Number(await trained.getAttribute('aria-valuenow'));
        assert.ok(now > 4096, `the training length is ${now}`);
        assert.equal(Number((await bench.address(page)).match(/max_position_embeddings=(\d+)/)[1]), now);
        for (const before of ['65536', '32768']) {
            await page.goBack();
            await bench.settled(page);
            assert.equal(await target.getAttribute('aria-valuenow'), before);
            assert.equal(await trained.getAttribute('aria-valuenow'), '4096');
        }
    },
    'the handle of a length does not hide the curves from the pointer': async (bench) => {
        const page = await bench.page('#/reach');
        const box = await page.locator('.handle').nth(0).boundingBox();
        await page.mouse.move(box.x + box.width - 2, box.y + 18);
        assert.equal(await bench.text(page, '.types-table:last-child caption'), 'Pair 63');
    },
    'a model of the catalogue brings its numbers': async (bench) => {
        const page = await bench.page('#/reach');
        await bench.choose(page, 'model', 'llama-3.1-8b');
        await bench.settled(page);
        await page.focus('.part-waves svg.curve');
        await page.keyboard.press('End');
        await bench.settled(page);
        const rows = await types(page);
        const own = await bench.json('/v1/rope/frequencies?model=llama-3.1-8b&dtype=float64');
        assert.equal(Number(rows.published.at(-3)), own.wavelength.data.at(-1));
        assert.deepEqual(rows.llama3.slice(-3), rows.published.slice(-3));
        assert.deepEqual(Object.keys(rows), ['published', 'default', 'linear', 'ntk', 'yarn', 'llama3']);
        assert.equal(await bench.address(page), '#/reach?model=llama-3.1-8b&pair=63');
    },
    'the field of the model says which models it has': async (bench) => {
        const page = await bench.page('#/reach');
        const { models } = await bench.json('/v1/models');
        const own = models.filter(({ encoding }) => encoding === 'rope').length;
        const field = '[data-parameter=model]';
        assert.equal(
            await bench.text(page, `${field} .help`),
            `${own} of ${models.length} models: those with rope. Type a part of a name.`,
        );
        assert.equal(await page.$$eval(`${field} datalist option`, (list) => list.length), own + 1);
    },
    'a pasted config.json is resolved': async (bench) => {
        const page = await bench.page('#/reach', { refused: true });
        await page.click('summary:text("Paste a config.json")');
        await page.fill('.config textarea', JSON.stringify(LLAMA));
        await page.press('.config textarea', 'Tab');
        await bench.settled(page);
        const rows = await page.$$eval('.keys tbody tr', (list) =>
            list.map((row) => [...row.children].slice(0, 3).map((cell) => cell.textContent)),
        );
        const resolved = await (
            await fetch(`${bench.server.url}/v1/models/resolve`, {
                method: 'POST',
                body: JSON.stringify(LLAMA),
                headers: { 'Content-Type': 'application/json' },
            })
        ).json();
        assert.deepEqual(
            rows,
            resolved.keys.map(({ pointer, value, status }) => [pointer.slice(2), JSON.stringify(value), status]),
        );
        const address = await bench.address(page);
        assert.match(address, /rope_theta=500000/);
        assert.match(address, /max_position_embeddings=8192&target_length=131072/);
        assert.ok('llama3' in (await types(page)));
        await page.fill('.config textarea', '{"model_type": ');
        await page.press('.config textarea', 'Tab');
        assert.match(await bench.text(page, '.config .error:not([hidden])'), /not a JSON object/);
    },
    'the server’s own words where a comparison is refused': async (bench) => {
        const page = await bench.page('#/reach?types=longrope', { refused: true });
        const words = await page.$$eval('.panel .error:not([hidden])', (list) =>
            list.map((each) => each.textContent).join(' '),
        );
        assert.match(words, /required|factor/);
    },
    'the errors are those of the pairs and of the type': async (bench) => {
        const page = await bench.page('#/reach?model=phi-2&numerics=float32&for=linear&angle=float16&eat=3,15');
        const facts = await bench.readout(page, '.drift .readout');
        const { inv_freq, parameters } = await bench.json(
            '/v1/rope/frequencies?head_dim=80&rotary_dim=32&rope_type=linear&factor=4&dtype=float64',
        );
        assert.equal(parameters.rotary_dim, 32);
        assert.equal(Number(facts.frequency), inv_freq.data.at(-1));
        const table = await bench.json(
            `/v1/rope/table?head_dim=80&rotary_dim=32&rope_type=linear&factor=4&positions=${facts.position}&dtype=float64`,
        );
        assert.equal(Number(facts['cosine, exact']), table.cos.data[0][15]);
        await page.click('.part-error label:has-text("ntk")');
        await bench.settled(page);
        const ntk = await bench.json(
            '/v1/rope/frequencies?head_dim=80&rotary_dim=32&rope_type=ntk&factor=4&dtype=float64',
        );
        assert.equal(Number((await bench.readout(page, '.drift .readout')).frequency), ntk.inv_freq.data.at(-1));
        assert.match(await bench.address(page), /for=ntk/);
    },
    'the naive base stretches less than NTK': async (bench) => {
        const page = await bench.page('#/reach?types=ntk,naive&pair=63');
        const rows = await types(page);
        assert.ok(Number(rows['naive: base · s'].at(-2)) < Number(rows.ntk.at(-2)));
        assert.match(
            await page.textContent('.aside'),
            /at pair 1 by 1\.03302 and 1\.03356, at pair 63 by 7\.74425 and 8/,
        );
    },
    'the exercises know the answers of the server': async (bench) => {
        const page = await bench.page('#/reach');
        const [base, wave, pair] = await bench.answered(page, ['82684.6', '20470000', '46']);
        assert.equal(base, 'Right: 82\u202f684.62264 ');
        const { wavelength } = await bench.json('/v1/rope/frequencies?model=llama-3.1-8b');
        assert.match(wave, wavelength.data.at(-1) > 2.05e7 || wavelength.data.at(-1) < 2.04e7 ? /Not yet/ : /Right/);
        assert.equal(pair, 'Right: 46 ');
        const longest = await bench.json('/v1/rope/frequencies?head_dim=128');
        const first = longest.wavelength.data.findIndex((positions) => positions > 4096);
        assert.equal(first, 46);
        assert.match((await bench.answered(page, ['0', String(wavelength.data.at(-1)), '45']))[1], /Right/);
    },
};
