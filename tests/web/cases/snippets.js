// snippets.js - every snippet that the page offers does what it says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

// PyTorch is not packaged where the tests run: what surrounds it is run with a stand-in of two lines.
const TORCH = `import sys, types, json, struct
torch = types.ModuleType('safetensors.torch')
class Shape:
    def __init__(self, shape): self.shape = tuple(shape)
def load(data):
    n = struct.unpack('<Q', data[:8])[0]
    return {name: Shape(entry['shape']) for name, entry in json.loads(data[8:8 + n]).items() if name != '__metadata__'}
torch.load = load
sys.modules['safetensors'] = types.ModuleType('safetensors')
sys.modules['safetensors.torch'] = torch
`;

const PLACES = [
    '#/any/sinusoidal?d_model=64&positions=0:8',
    '#/any/rope/table?head_dim=64&tensor=sin&positions=0:8',
    '#/any/rope/scores',
    '#/any/rope/rotate',
    '#/any/sinusoidal?d_model=64&positions=0:8&dtype=bfloat16',
    '#/any/alibi/bias?query_length=8&num_heads=8&form=causal',
];
/** Every room with all of its parts, and how many of them can be taken along. */
const ROOMS = {
    '#/words': 3,
    '#/waves?numerics=float32': 3,
    '#/sums': 1,
    '#/step': 1,
    '#/rotations?numerics=float32': 4,
    '#/reach?numerics=float32': 4,
    '#/biases': 2,
    '#/axes': 3,
};
const RUN = {
    curl: (text) => run('sh', ['-c', text]),
    NumPy: (text) => run('/usr/bin/python3', ['-c', text]),
    PyTorch: (text) => run('/usr/bin/python3', ['-c', TORCH + text]),
    JavaScript: (text) => run('node', ['--input-type=module', '-e', text]),
};

/** The snippets of a page, by name. */
async function snippets(bench, page) {
    await page.click('summary:text("Code and files")');
    await bench.settled(page);
    return Object.fromEntries(
        await page.$$eval('.snippet', (list) =>
            list.map((each) => [each.dataset.snippet, each.querySelector('code').textContent]),
        ),
    );
}

/** What each panel of a room offers: texts by name, files by address, and the part that it stands in. */
async function offered(bench, page) {
    for (const summary of await page.$$('.take > summary')) await summary.click();
    await bench.settled(page);
    return page.$$eval('.take', (panels) =>
        panels.map((panel) => ({
            texts: Object.fromEntries(
                [...panel.querySelectorAll('.snippet')].map((each) => [
                    each.dataset.snippet,
                    each.querySelector('code').textContent,
                ]),
            ),
            files: [...panel.querySelectorAll('.files a')].map((link) => link.href),
            part: panel.closest('.part')?.getAttribute('aria-label'),
        })),
    );
}

/** All numbers of a shape as NumPy, JavaScript and JSON tell it. */
const numbersOf = (text) => text.match(/\d+/g).map(Number);

/** A panel's code in each language reads an array of the same shape. */
async function executed(texts) {
    const said = await Promise.all(
        Object.entries(RUN).map(async ([name, run]) => [name, (await run(texts[name])).stdout]),
    );
    const { curl, NumPy, PyTorch, JavaScript } = Object.fromEntries(said);
    const own = numbersOf(NumPy.match(/^\(([\d, ]+)\)/)[1]);
    assert.deepEqual(numbersOf(JavaScript.match(/^\[([\d, ]+)\]/)[1]), own);
    const shapes = curl.match(/"shape":\[[\d,]+\]/g).map(numbersOf);
    assert.ok(
        shapes.some((each) => each.join() === own.join()),
        `${own}: ${curl.slice(0, 200)}`,
    );
    assert.match(PyTorch, /^\{'\w+': /);
}

/** The frames of a room, in a page that has no other: each shows the part that it is taken from, and no other. */
async function framed(bench, page, panels) {
    const body = panels.map(({ texts }) => texts.Frame).join('\n');
    await page.route('**/frames.html', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(`${bench.server.url}/frames.html`);
    for (const [i, { part }] of panels.entries()) {
        const frame = await (await page.$$('iframe'))[i].contentFrame();
        await bench.settled(frame);
        const seen = await frame.$$eval('.part', (parts) =>
            parts.filter((each) => each.checkVisibility()).map((each) => each.getAttribute('aria-label')),
        );
        assert.deepEqual(seen, part === undefined ? [] : [part], frame.url());
        assert.equal(await frame.isVisible('.take'), false);
    }
}

/** What the server makes of a configuration. */
async function resolved(bench, config) {
    const body = JSON.stringify({ model_type: 'llama', head_dim: 128, ...config });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${bench.server.url}/v1/models/resolve`, { method: 'POST', headers, body });
    return (await answer.json()).parameters;
}

/** The shape that a snippet's output tells. */
const shape = (name, output, rows) => {
    if (name !== 'curl') return assert.ok(output.includes(String(rows)), `${name}: ${output}`);
    const answer = JSON.parse(output);
    const tensor = answer.data ? answer : Object.values(answer).find((each) => each?.data);
    return assert.equal(tensor.shape[0], rows);
};

export const cases = {
    'curl, NumPy, PyTorch and JavaScript run': async (bench) => {
        for (const place of PLACES) {
            const page = await bench.page(place);
            const all = await snippets(bench, page);
            for (const [name, execute] of Object.entries(RUN)) {
                const { stdout } = await execute(all[name]);
                shape(name, stdout, /positions|alibi/.test(place) ? 8 : place.endsWith('rotate') ? 4 : 2);
            }
            assert.match(all.Frame, /<iframe src=".*embed=1#\/any\//);
        }
    },
    'every part of a room can be taken along': async (bench) => {
        for (const [place, count] of Object.entries(ROOMS)) {
            const page = await bench.page(place);
            const panels = await offered(bench, page);
            assert.equal(panels.length, count, place);
            await Promise.all(panels.map(({ texts }) => executed(texts)));
            for (const href of panels.flatMap(({ files }) => files))
                assert.equal((await fetch(href)).status, 200, href);
            await framed(bench, page, panels);
            await page.context().close();
        }
    },
    'what was asked for by a body is downloaded': async (bench) => {
        const page = await bench.page('#/rotations?numerics=float32');
        await offered(bench, page);
        const buttons = page.locator('.part-clocks .files button');
        assert.ok((await buttons.count()) >= 2);
        for (const button of await buttons.all()) {
            const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
            assert.equal(await file.failure(), null);
            assert.match(
                file.suggestedFilename(),
                new RegExp(`^scores\\.${(await button.textContent()).toLowerCase()}$`),
            );
            assert.ok(statSync(await file.path()).size > 60);
        }
    },
    'the settings for engines mean the type that they are offered for': async (bench) => {
        for (const type of ['linear', 'yarn']) {
            const page = await bench.page(`#/reach?for=${type}`);
            const all = await page.$$eval('.settings .snippet', (list) =>
                list.map((each) => [each.dataset.snippet, each.querySelector('code').textContent]),
            );
            const { posenc, llama_cpp, vllm, ...configs } = Object.fromEntries(all);
            assert.deepEqual(Object.keys(configs), ['transformers_v5', 'transformers_v4']);
            assert.equal((await fetch(posenc)).status, 200, posenc);
            assert.match(llama_cpp, new RegExp(`^--ctx-size 32768 --rope-scaling ${type} --rope-scale 8\\b`));
            // As a shell gives them to the engine.
            const { stdout } = await run('sh', ['-c', `printf '%s\\n' ${vllm}`]);
            const [, override, ...length] = stdout.trim().split('\n');
            assert.deepEqual(length, ['--max-model-len', '32768']);
            for (const text of [...Object.values(configs), override]) {
                const { rope_type, factor, rope_theta } = await resolved(bench, JSON.parse(text));
                assert.deepEqual([rope_type, factor, rope_theta], [type, 8, 10000], text);
            }
        }
    },
    'downloads are files of their format': async (bench) => {
        const page = await bench.page(PLACES[1]);
        await page.click('summary:text("Code and files")');
        await bench.settled(page);
        const links = await page.$$eval('.files a', (list) => list.map((link) => [link.textContent, link.href]));
        assert.ok(links.length >= 3);
        for (const [name, href] of links) {
            const answer = await fetch(href);
            assert.equal(answer.status, 200, `${name} ${href}`);
            assert.ok((await answer.arrayBuffer()).byteLength > 100, name);
        }
    },
    'the copy button copies, where the page has a clipboard and where not': async (bench) => {
        const page = await bench.page(PLACES[0], { permissions: ['clipboard-read', 'clipboard-write'] });
        const all = await snippets(bench, page);
        const copied = async (name) => {
            await page.click(`[data-snippet=${name}] button`);
            await bench.until(page, name, async (text) => (await globalThis.own.readText()) === text, all[name]);
        };
        await page.evaluate(() => (globalThis.own = navigator.clipboard));
        await copied('curl');
        await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
        await copied('JavaScript');
    },
};
