// truth.js - what the page says of its own figures holds.
import assert from 'node:assert/strict';

const number = (text) => Number(text.replaceAll('−', '-'));

/** Drop a file into the doctor's room. */
async function dropped(bench, page, path, name) {
    const buffer = Buffer.from(await bench.raw(path));
    await page.setInputFiles('.drop input', { name, mimeType: 'application/octet-stream', buffer });
    await bench.settled(page);
}

export const cases = {
    'the product is that of the matrices that are shown': async (bench) => {
        const page = await bench.page('#/step?pos=9&k=-4');
        assert.equal(await page.textContent('.part-turn h2'), 'Mk·PE\u2061(pos)=PE\u2061(pos+k)');
        const rows = await bench.table(page, '.part-turn');
        const { data } = await bench.json('/v1/sinusoidal/offset?d_model=64&offset=-4&dtype=float64');
        for (const [pair, block] of data.entries()) {
            const [sine, cosine] = [rows[2 * pair][0], rows[2 * pair + 1][0]];
            for (const [i, [a, b]] of block.entries()) {
                assert.equal(rows[2 * pair + i][1], a * sine + b * cosine);
                assert.ok(Math.abs(rows[2 * pair + i][1] - rows[2 * pair + i][2]) < 1e-14);
            }
        }
    },
    'a wave that is too fast for the fan is a band, and that is said': async (bench) => {
        const page = await bench.page('#/waves?to=1502');
        const labels = await page.$$eval('svg.fan > text', (list) => list.map((each) => each.textContent));
        const bands = await page.$$eval('.fan .band', (list) => list.length);
        const lengths = labels.map((label) => Number(label.split('· ')[1].replace(/\u202f/g, '')));
        // 480 points over 1502 positions: four points span 12.5.
        assert.equal(bands, lengths.filter((length) => length < 12.5).length);
        assert.ok(bands > 0);
        assert.match(await page.textContent('.part-fan .note'), /^Pairs 0, 1: too many waves/);
        const near = await bench.page('#/waves');
        assert.equal(await near.locator('.fan .band').count(), 0);
        assert.equal(await near.textContent('.part-fan .note'), '');
    },
    'an answer has the digits that it is told with, and a comma may begin the decimals': async (bench) => {
        const words = await bench.page('#/words');
        const right = 'Right: 0.3333333333 ';
        assert.deepEqual(await bench.answered(words, ['0,333', '.3333']), [
            'Not yet. The figures above have it.',
            right,
        ]);
        const page = await bench.page('#/waves');
        const [first] = (await bench.json('/v1/sinusoidal?d_model=64&positions=5&dtype=float64')).data;
        const told = `Right: ${Number(first[10].toPrecision(10))} `;
        assert.deepEqual(await bench.answered(page, ['0,9268', '54,410.1']), [
            told,
            'Right: 54\u202f410.14313 positions',
        ]);
    },
    'the column says which of its positions are drawn': async (bench) => {
        const page = await bench.page('#/waves?positions=0:100000&at=3,10');
        const [, last] = (await bench.text(page, '.part-table h3 >> nth=1')).match(/positions 0 to (\d+) alone/);
        assert.equal(
            (await bench.table(page, '.part-table .pair-of-pictures > div:nth-child(2)')).length,
            Number(last) + 1,
        );
        const whole = await bench.page('#/waves');
        assert.equal(await bench.text(whole, '.part-table h3 >> nth=1'), 'Column: dimension 10');
    },
    'a sentence that reads the same has not changed': async (bench) => {
        const page = await bench.page('#/words?s=so+so+so&to=2,1,0');
        const said = await page.$$eval('.said', (list) => list.map((each) => each.textContent));
        assert.equal(said.length, 3);
        for (const each of said) assert.match(each, /^All 9 numbers are the same.* reads as before/);
        const other = await bench.page('#/words?s=so+it+so+so&to=3,2,1,0');
        assert.match(await other.textContent('.scheme:nth-child(2) .said'), /of 16 numbers have changed/);
    },
    'widths without a whole pair are told in words': async (bench) => {
        const page = await bench.page('#/waves?d_model=1', { refused: true });
        const said = await page.innerText('#room');
        assert.doesNotMatch(said, /undefined|NaN|null|to -1/);
        assert.match(said, /The clock of pair 0:/);
        assert.match(await page.textContent('.part-fan > .error'), /d_model ends with a sine alone/);
    },
    'what is no number is said with its own words': async (bench) => {
        const page = await bench.page('#/rotations?q=abc');
        assert.equal(await page.textContent('[data-parameter=q] .error'), 'must be numbers, got "abc"');
        await bench.page('#/rotations?m=abc&n=1.5');
    },
    'an address with nonsense in it shows the room as it is without': async (bench) => {
        const facts = await bench.readout(await bench.page('#/waves'));
        for (const junk of ['win=junk', 'at=junk', 'at=-5,3&win=1,2,x', 'ewin=junk&eat=1', 'slice=x&tensor=y'])
            assert.deepEqual(await bench.readout(await bench.page(`#/waves?${junk}`)), facts, junk);
    },
    'a room that there is not is said, with those that there are': async (bench) => {
        const page = await bench.page('#/nowhere');
        assert.equal(await page.textContent('h1'), 'There is no room “nowhere”');
        assert.equal(await page.locator('#room a').count(), (await bench.rooms()).length);
        await page.click('#room a:text-is("Waves")');
        await bench.settled(page);
        assert.equal(await page.textContent('h1'), 'Waves');
    },
    'the doctor claims nothing that nobody said: a table is judged as what it fits': async (bench) => {
        for (const [path, name, judged] of [
            ['/v1/sinusoidal?d_model=64&positions=0:64&format=npy', 'pe.npy', /Judged as sinusoidal.*d_model=64/],
            [
                '/v1/rope/table?head_dim=64&positions=0:64&cache_layout=hf&format=safetensors',
                'hf.safetensors',
                /rope.*head_dim=64/,
            ],
            ['/v1/rope/table?head_dim=64&positions=0:64&format=safetensors', 'pairs.safetensors', /rope.*head_dim=64/],
            ['/v1/alibi/bias?num_heads=4&query_length=8&format=npy', 'bias.npy', /alibi.*num_heads=4/],
            ['/v1/t5/buckets?query_length=16&format=npy', 'buckets.npy', /t5/],
        ]) {
            const page = await bench.page('#/doctor', { refused: true });
            await dropped(bench, page, path, name);
            assert.match(await page.textContent('.finding'), /^It is what it claims to be/, name);
            assert.match(await page.textContent('.read-off'), judged, name);
            await page.context().close();
        }
    },
    'a wrong table of halves keeps its width': async (bench) => {
        const page = await bench.page('#/doctor?rope_theta=500000');
        const path = '/v1/rope/table?head_dim=64&positions=0:64&cache_layout=hf&format=safetensors';
        await dropped(bench, page, path, 'hf.safetensors');
        assert.match(await page.textContent('.finding'), /rope_theta was 10000, not 500000/);
        assert.equal(await page.inputValue('[data-parameter=head_dim] input.number'), '64');
        const facts = await bench.readout(page, '.difference .readout:not(.scalars)');
        assert.ok(number(facts.value) !== 0, JSON.stringify(facts));
    },
};
