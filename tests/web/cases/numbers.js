// numbers.js - what the page shows is what the API says, digit by digit and bit by bit.
import assert from 'node:assert/strict';

const plain = (text) => text.replace('−', '-').replace('e−', 'e-');

/** The bits of an element of a raw answer, as the page writes them. */
const bits = (bytes, index, size) =>
    `0x${[...bytes.slice(index * size, (index + 1) * size)]
        .reverse()
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}`;

async function same(bench, { resource, query, row, column, width, size = 4 }) {
    const page = await bench.page(`#/any/${resource}?${query}&at=${row},${column}`);
    const facts = await bench.readout(page);
    const address = `/v1/${resource}?${query}`;
    const answer = await bench.json(address);
    const tensor = answer.data ? answer : answer[new URLSearchParams(query).get('tensor')];
    assert.equal(plain(facts.value), String(tensor.data[row][column]), address);
    const raw = await bench.raw(`${address}&format=raw`);
    assert.equal(facts.bits, bits(raw, row * width + column, size), address);
    return { page, facts };
}

export const cases = {
    'sinusoidal: 0.9268 at position 5, dimension 10 of 64': async (bench) => {
        const { facts } = await same(bench, {
            resource: 'sinusoidal',
            query: 'd_model=64&positions=0:128',
            row: 5,
            column: 10,
            width: 64,
        });
        assert.equal(facts.value, '0.92675734');
        assert.equal(facts.position, '5');
        assert.equal(facts.dimension, '10');
        assert.equal(facts.pair, '5');
        const waves = await bench.json('/v1/rope/frequencies?head_dim=64&dtype=float64');
        assert.equal(Number(facts.frequency), waves.inv_freq.data[5]);
        assert.equal(parseFloat(facts.wavelength), waves.wavelength.data[5]);
        assert.match(facts.formula, /sin.*5.*10000.*10\/64.*=\s*0\.92675734/s);
    },
    'float64, float16 and bfloat16 have their own digits and bits': async (bench) => {
        for (const [dtype, size] of [
            ['float64', 8],
            ['float16', 2],
            ['bfloat16', 2],
        ])
            await same(bench, {
                resource: 'sinusoidal',
                query: `d_model=64&positions=0:128&dtype=${dtype}`,
                row: 7,
                column: 3,
                width: 64,
                size,
            });
    },
    'rope: cosines and sines': async (bench) => {
        for (const tensor of ['cos', 'sin'])
            await same(bench, {
                resource: 'rope/table',
                query: `head_dim=128&positions=1000:1100&tensor=${tensor}`,
                row: 99,
                column: 20,
                width: 64,
            });
    },
    'a formula has the amplitude of its table': async (bench) => {
        const { facts } = await same(bench, {
            resource: 'sinusoidal',
            query: 'd_model=64&positions=0:128&amplitude=2.5',
            row: 5,
            column: 10,
            width: 64,
        });
        assert.match(facts.formula, /^2\.5·sin/);
        const angle = 5 / 10000 ** (10 / 64);
        assert.ok(Math.abs(2.5 * Math.sin(angle) - Number(facts.value)) < 1e-6, facts.formula);
    },
    'a formula has the attention factor of its table': async (bench) => {
        const { page, facts } = await same(bench, {
            resource: 'rope/table',
            query: 'head_dim=128&rope_type=yarn&factor=8&original_max_position_embeddings=4096&positions=5&tensor=cos',
            row: 0,
            column: 10,
            width: 64,
        });
        const [factor, position, frequency] = await page.$$eval('.readout math mn', (list) =>
            list.map((each) => Number(each.textContent)),
        );
        assert.equal(frequency, Number(facts.frequency));
        assert.ok(Math.abs(factor * Math.cos(position * frequency) - Number(facts.value)) < 1e-7, facts.formula);
    },
    'a far row is read as a part of the answer': async (bench) => {
        const page = await bench.page(
            '#/any/sinusoidal?d_model=64&positions=0:200000&at=150000,9&win=149990,150010,0,64',
        );
        const { value, position } = await bench.readout(page);
        const answer = await bench.json('/v1/sinusoidal?d_model=64&positions=150000');
        assert.equal(position, '150000');
        assert.equal(plain(value), String(answer.data[0][9]));
    },
    'from a million positions to one cell, without a step': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64&positions=0:1000000');
        const note = await bench.text(page, '.heat .note');
        assert.match(note, /The service shows the minimum and maximum of up to \d+ x 1/);
        const painted = () =>
            page.$eval('canvas.heatmap', (canvas) => {
                const copy = new OffscreenCanvas(60, 60).getContext('2d');
                copy.drawImage(canvas, -80, -30);
                const { data } = copy.getImageData(0, 0, 60, 60);
                return new Set(new Uint32Array(data.buffer)).size;
            });
        const rows = () =>
            page.evaluate(() => {
                const [top, bottom] = (new URLSearchParams(location.hash.split('?')[1]).get('win') ?? '0,1000000')
                    .split(',')
                    .map(Number);
                return bottom - top;
            });
        await page.focus('canvas.heatmap');
        for (let n = await rows(); n > 1; n = await rows()) {
            // Of a few rows a part of the canvas may be one cell.
            assert.ok(n < 50 || (await painted()) > 1, `${n} rows are blank`);
            for (let i = 0; i < 6; i++) await page.keyboard.press('+');
            await bench.settled(page);
            assert.ok((await rows()) < n, `${n} rows stay`);
        }
        await page.keyboard.press('ArrowRight');
        const { value } = await bench.readout(page);
        const answer = await bench.json('/v1/sinusoidal?d_model=64&positions=0:1');
        assert.equal(plain(value), String(answer.data[0][1]));
        await page.keyboard.press('0');
        await bench.until(page, 'the whole', () => !location.hash.includes('win='));
    },
    'rows of a large table are those of its positions': async (bench) => {
        const page = await bench.page('#/any/rope/table?head_dim=128&positions=-5:400000:0.5&tensor=sin');
        const asked = [];
        page.on('request', (request) => request.url().includes('format=svg') && asked.push(request.url()));
        await page.focus('canvas.heatmap');
        await page.keyboard.press('+');
        await bench.until(page, 'a part', () => location.hash.includes('win='));
        await bench.until(page, 'the figure of the service', () =>
            document.querySelector('.heat .note').textContent.includes('service'),
        );
        const [top, bottom] = new URLSearchParams((await bench.address(page)).split('?')[1])
            .get('win')
            .split(',')
            .map(Number);
        const [from, , step] = new URL(asked.at(-1)).searchParams.get('positions').split(':').map(Number);
        assert.deepEqual([from, step], [-5 + Math.floor(top) / 2, 0.5]);
        const shape = (
            await fetch(
                `${asked
                    .at(-1)
                    .replace('format=svg', 'format=raw')
                    .replace(/&figure_\w+=\d+/g, '')}`,
                { method: 'HEAD' },
            )
        ).headers.get('X-Tensor-Shape');
        assert.equal(shape, `${Math.ceil(bottom) - Math.floor(top)},64`);
    },
    'the table on demand has the numbers in view': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=8&positions=3:7');
        await page.click('summary:text("Table")');
        await bench.settled(page);
        const cells = await page.$$eval('tbody tr', (rows) =>
            rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
        );
        const answer = await bench.json('/v1/sinusoidal?d_model=8&positions=3:7');
        assert.deepEqual(
            cells.map((row) => row.map((text) => Number(plain(text)))),
            answer.data,
        );
        assert.deepEqual(await page.$$eval('tbody th', (heads) => heads.map((head) => head.textContent)), [
            '3',
            '4',
            '5',
            '6',
        ]);
    },
    'every resource of the listing draws its examples, or says what it needs': async (bench) => {
        const listing = await bench.json('/v1');
        const page = await bench.page('', { refused: true });
        for (const { path } of listing.encodings) {
            await page.evaluate((to) => (location.hash = to), `#/any/${path.replace('/v1/', '')}`);
            await bench.until(page, path, (to) => document.querySelector('.picker input')?.value === to, path);
            await bench.settled(page);
            const said = await page.$$eval('.error:not([hidden])', (list) =>
                list.map((each) => each.textContent).join(' '),
            );
            // Only a learned table has to be brought by whoever runs the server.
            if (path.startsWith('/v1/learned/{')) assert.match(said, /--learned-dir/, path);
            else assert.ok((await page.$('.figure')) !== null, `${path} draws nothing at its examples: ${said}`);
        }
    },
};
