// stories.js - what somebody without a manual does, click by click, from the first screen of a fresh profile.
import assert from 'node:assert/strict';

/** Write into the field of a parameter as a visitor does. */
async function write(page, parameter, text) {
    const field = page.locator(`[data-parameter="${parameter}"] input.number`);
    await field.click();
    await field.fill(text);
    await page.keyboard.press('Tab');
}

export const cases = {
    'the value at position 5, dimension 10 of 64': async (bench) => {
        const page = await bench.page();
        await page.click('#rooms a:text("Waves")');
        await bench.settled(page);
        await write(page, 'd_model', '64');
        await bench.settled(page);
        await page.focus('canvas.heatmap');
        await page.keyboard.press('Home');
        for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowDown');
        for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowRight');
        await bench.settled(page);
        const { position, dimension, value } = await bench.readout(page, '.figure .readout:not(.scalars)');
        assert.deepEqual([position, dimension], ['5', '10']);
        assert.equal(Number(value).toFixed(4), '0.9268');
    },
    'the longest wavelength of Llama 3.1 8B': async (bench) => {
        const page = await bench.page();
        await page.click('#rooms a:text("Long contexts")');
        await bench.settled(page);
        await bench.choose(page, 'model', 'Llama 3.1 8B');
        await bench.settled(page);
        const row = page.locator('.types-table tbody tr', { hasText: 'published' });
        const { wavelength } = await bench.json('/v1/rope/frequencies?model=llama-3.1-8b&dtype=float64');
        const longest = Math.max(...wavelength.data);
        assert.equal(await page.textContent('.types-table thead th >> nth=1'), 'longest wavelength');
        assert.equal(Number(await row.locator('td').first().textContent()), longest);
        await page.focus('.part-waves svg.curve');
        await page.keyboard.press('End');
        await bench.settled(page);
        assert.equal(Number(await row.locator('td').nth(-3).textContent()), longest);
    },
    'why a safetensors is wrong': async (bench) => {
        const page = await bench.page();
        await page.click('#rooms a:text("Check a table")');
        await bench.settled(page);
        await bench.choose(page, 'model', 'llama-3.1-8b');
        const buffer = Buffer.from(
            await bench.raw('/v1/rope/table?head_dim=128&rope_theta=10000&positions=0:64&format=safetensors'),
        );
        const chooser = page.waitForEvent('filechooser');
        await page.click('.drop');
        await (await chooser).setFiles({ name: 'cache.safetensors', mimeType: 'application/octet-stream', buffer });
        assert.match(await bench.text(page, '.finding'), /It is not what it claims to be/);
        assert.match(await page.textContent('.diagnosis'), /rope_theta|base/);
    },
    'what YaRN does to pair 40 of Qwen3 at 131072': async (bench) => {
        const page = await bench.page();
        await page.click('#rooms a:text("Long contexts")');
        await bench.settled(page);
        await bench.choose(page, 'model', 'Qwen3 8B');
        assert.equal(await page.inputValue('[data-parameter="target_length"] input.number'), '131072');
        await page.focus('.part-waves svg.curve');
        await page.keyboard.press('Home');
        for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowRight');
        await bench.settled(page);
        const pair = page.locator('.types-table', { hasText: 'Pair 40' }).locator('tr', { hasText: 'yarn' });
        const [wavelength, stretch] = (await pair.locator('td').allTextContents()).map(Number);
        const { stretch: all, wavelength: long } = await bench.json(
            '/v1/rope/compare?model=qwen3-8b&rope_types=yarn&max_position_embeddings=32768&target_length=131072&dtype=float64',
        );
        assert.deepEqual([wavelength, stretch], [long.data[0][40], all.data[0][40]]);
    },
};
