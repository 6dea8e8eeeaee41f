// docs.js - the reference at /docs: every operation is there and is found, and what its form holds is answered.
import assert from 'node:assert/strict';
import { findings } from './looks.js';

const DOCS = { search: 'docs' };
const SENT = ['sinusoidal', 'rope_table', 'rope_rotate', 'rope_table_post', 'alibi_bias', 't5_buckets', 'shaw_indices'];
const ALSO = ['resolve_model', 'verify', 'list_resources'];

/** The first line of the answer to what the form of an operation holds. */
async function sent(page, id) {
    await page.locator(`#${id} > summary`).click();
    await page.locator(`#form-${id} button[type=submit]`).click();
    return page.locator(`#form-${id} .status`).textContent();
}

export const cases = {
    'ten operations are sent as they are filled in': async (bench) => {
        const page = await bench.page('', DOCS);
        for (const id of [...SENT, ...ALSO]) assert.match(`${id}: ${await sent(page, id)}`, /: 200 /);
    },
    'every operation of the contract is there, and the search finds few': async (bench) => {
        const page = await bench.page('', DOCS);
        const contract = await (await fetch(`${bench.server.url}/openapi.json`)).json();
        const n = Object.values(contract.paths).reduce((sum, item) => sum + ('get' in item) + ('post' in item), 0);
        assert.equal(await page.locator('.operation').count(), n);
        await page.fill('#search', 'rope cache_layout');
        const shown = await page.locator('.operation:visible').evaluateAll((all) => all.map(({ id }) => id));
        assert.deepEqual(shown.sort(), ['rope_grid', 'rope_grid_post', 'rope_table', 'rope_table_post']);
    },
    'values, media types and statuses are found': async (bench) => {
        const page = await bench.page('', DOCS);
        const found = async (words) => {
            await page.fill('#search', words);
            return page.locator('.operation:visible').evaluateAll((all) => all.map(({ id }) => id));
        };
        assert.deepEqual((await found('get trtllm')).sort(), ['rope_table']);
        assert.deepEqual(await found('get text/markdown'), []);
        assert.deepEqual(await found('text/markdown'), ['verify']);
        assert.ok((await found('415')).includes('verify'));
        assert.deepEqual(await found('418'), []);
    },
    'descriptions are Markdown': async (bench) => {
        const page = await bench.page('#verify', DOCS);
        assert.doesNotMatch(await page.locator('#form-verify').textContent(), /`/);
        assert.ok((await page.locator('#form-verify .told code').count()) > 5);
    },
    'members of bodies are found and listed, with the answers': async (bench) => {
        const page = await bench.page('', DOCS);
        for (const [words, id] of [
            ['per_pair', 'rope_scores'],
            ['delta', 'rope_shift'],
        ]) {
            await page.fill('#search', words);
            const shown = await page.locator('.operation:visible').evaluateAll((all) => all.map((each) => each.id));
            assert.deepEqual(shown, [id]);
            await page.locator(`#${id} > summary`).click();
            const listed = await page.locator(`#form-${id}`).textContent();
            assert.match(
                listed,
                new RegExp(`Members.*${words} .*Answers.*200 application/json, application/x-npy.*415: `, 's'),
            );
        }
        const told = await page.locator('#form-rope_scores dl').first().textContent();
        assert.match(told, /q array.*, required/);
        assert.match(told, /per_pair boolean.*Default: false\./s);
    },
    'a wide page is filled': async (bench) => {
        for (const width of [1280, 1920]) {
            const page = await bench.page('', { ...DOCS, viewport: { width, height: 900 } });
            await page.locator('#rope_table > summary').click();
            const right = (selector) =>
                page.$eval(
                    selector,
                    (each) => each.getBoundingClientRect().right / each.ownerDocument.body.clientWidth,
                );
            for (const selector of ['#operations', '#form-rope_table > :last-child'])
                assert.ok((await right(selector)) > 0.9, `${selector} at ${width}`);
        }
    },
    'a refusal is shown with its words': async (bench) => {
        const page = await bench.page('#sinusoidal', { ...DOCS, refused: true });
        await page.fill('#form-sinusoidal input[name=d_model]', '0');
        await page.locator('#form-sinusoidal button[type=submit]').click();
        assert.match(await page.locator('#form-sinusoidal .status').textContent(), /^422 /);
        assert.match(await page.locator('#form-sinusoidal pre').textContent(), /d_model/);
    },
    'axe finds nothing, with a form open and an answer in it, in either theme': async (bench) => {
        for (const colorScheme of ['light', 'dark']) {
            const page = await bench.page('', { ...DOCS, colorScheme });
            await sent(page, 'rope_table');
            await sent(page, 'rope_rotate');
            assert.deepEqual(await findings(page), []);
        }
    },
    'a browser that asks for JSON gets the page, which shows it': async (bench) => {
        for (const [path, id, words] of [
            ['v1', 'list_resources', /"encodings":/],
            ['v1/learned', 'list_learned', /"tables":/],
            ['problems/not-acceptable', 'problem', /"code":"not-acceptable"/],
        ]) {
            const { headers } = await fetch(`${bench.server.url}/${path}`, { headers: { Accept: 'text/html' } });
            assert.match(headers.get('content-type'), /^text\/html/);
            assert.match(headers.get('content-security-policy'), /default-src 'self'/);
            assert.equal(headers.get('vary'), 'Accept, Accept-Encoding');
            const plain = await fetch(`${bench.server.url}/${path}`);
            assert.match(plain.headers.get('content-type'), /^application\/json/);
            assert.match(plain.headers.get('vary'), /^Accept, Accept-Encoding/);
            const page = await bench.page('', { search: path });
            assert.match(await page.textContent(`#form-${id} .status`), /^200 /);
            assert.match(await page.textContent(`#form-${id} pre`), words);
            await page.context().close();
        }
    },
};
