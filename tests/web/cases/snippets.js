// snippets.js - every snippet that the page offers does what it says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
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
const RUN = {
    curl: (text) => run('sh', ['-c', text]),
    NumPy: (text) => run('/usr/bin/python3', ['-c', text]),
    PyTorch: (text) => run('/usr/bin/python3', ['-c', TORCH + text]),
    JavaScript: (text) => run('node', ['--input-type=module', '-e', text]),
};

/** The snippets of a page, by name. */
async function snippets(bench, page) {
    await page.click('summary:text("Take it along")');
    await bench.settled(page);
    return Object.fromEntries(
        await page.$$eval('.snippet', (list) =>
            list.map((each) => [each.dataset.snippet, each.querySelector('code').textContent]),
        ),
    );
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
    'downloads are files of their format': async (bench) => {
        const page = await bench.page(PLACES[1]);
        await page.click('summary:text("Take it along")');
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
            await page.waitForFunction(async (text) => (await globalThis.own.readText()) === text, all[name]);
        };
        await page.evaluate(() => (globalThis.own = navigator.clipboard));
        await copied('curl');
        await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
        await copied('JavaScript');
    },
};
