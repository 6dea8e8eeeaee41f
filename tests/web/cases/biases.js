// biases.js - slopes, heads, and the maps of buckets.
import assert from 'node:assert/strict';

export const cases = {
    'the slopes are those of the API, for a power of two and for others': async (bench) => {
        for (const heads of [8, 12]) {
            const page = await bench.page(`#/biases?num_heads=${heads}`);
            const shown = await page.$$eval('.bars .slope', (list) => list.map((each) => Number(each.textContent)));
            const { data } = await bench.json(`/v1/alibi/slopes?num_heads=${heads}`);
            assert.deepEqual(shown, data);
            assert.equal((await page.$$('.multiples button')).length, heads);
        }
    },
    'all heads of the largest model, and what their pixels cover is said': async (bench) => {
        const page = await bench.page('#/biases?num_heads=112&query_length=160');
        await bench.settled(page);
        assert.equal(await page.$$eval('.multiples button', (list) => list.length), 112);
        assert.match(await page.textContent('.multiples .note'), /the least and the greatest of \d+ × \d+ values/);
        assert.equal(await page.$$eval('.aside msup', (list) => list.length), 1);
    },
    'heads have a scale each, or one for all': async (bench) => {
        const page = await bench.page('#/biases');
        const pale = () =>
            page.$$eval('.multiples canvas', (list) =>
                list.map((canvas) => {
                    const { data } = canvas.getContext('2d').getImageData(canvas.width - 5, 4, 1, 1);
                    return data[0];
                }),
            );
        assert.ok((await pale()).every((red) => red < 160));
        await page.click('label:has-text("one scale")');
        await bench.settled(page);
        const [first, , , , , , , last] = await pale();
        assert.ok(first < 160 && last > 240, `${first} and ${last}`);
        assert.match(await bench.address(page), /colours=one/);
    },
    'a bar shows its head': async (bench) => {
        const page = await bench.page('#/biases?form=causal');
        await page.click('.bars li:nth-child(3) button');
        assert.match(await bench.address(page), /slice=2/);
        await page.focus('.figure-frame > .heat canvas');
        await page.keyboard.press('End');
        await page.keyboard.press('ArrowLeft');
        const { value } = await bench.readout(page);
        const { data } = await bench.json('/v1/alibi/bias?num_heads=8&query_length=32&form=causal&heads=2');
        assert.equal(Number(value.replace('−', '-')), data[0][31][30]);
    },
    'a cell is explained with its numbers': async (bench) => {
        const plain = (text) => text.replaceAll('−', '-').replace(/\s/g, '');
        const cells = [
            ['', 'slice=3&at=9,2', '-0.0625·|9-2|=-0.4375'],
            ['', 'num_heads=12&slice=8&at=9,7', /^-0\.7071067811865476·\|9-7\|=-1\.4142135$/],
            ['t5', 'at=120,20', /^min.*15,8\+⌊.*100\/8.*128\/8.*\(16-8\)⌋\)=15$/],
            ['t5', 'at=20,25', '16+5=21'],
            ['deberta', 'at=25,20', /^bucket.*\(25-20\)=/],
            ['shaw', 'at=20,9', /^clip.*\(9-20,-8,8\)\+8=0$/],
            ['swin', 'at=8,3', '(1-0+6)·13+(1-3+6)=95'],
        ];
        for (const [scheme, rest, expected] of cells) {
            const page = await bench.page(`#/biases?${scheme ? `scheme=${scheme}&` : ''}${rest}`);
            const { formula, bits } = await bench.readout(page);
            if (expected instanceof RegExp) assert.match(plain(formula), expected);
            else assert.equal(plain(formula), expected);
            assert.match(bits, /^0x[0-9a-f]{8}$/);
            await page.context().close();
        }
    },
    'the cells of a bucket are counted in a large map, too': async (bench) => {
        const page = await bench.page('#/biases?scheme=t5&query_length=1100&bucket=12');
        const { data } = await bench.json('/v1/t5/buckets?query_length=1100');
        const cells = data.flat();
        const [count, first] = [cells.filter((each) => each === 12).length, cells.indexOf(12)];
        assert.equal(
            await page.textContent('[data-buckets] + .note'),
            `Bucket 12 has ${count.toLocaleString('en')} of 1,210,000 cells; ` +
                `the first is query ${Math.floor(first / 1100)}, key ${first % 1100}.`,
        );
    },
    'each map has the buckets of the API, and a chosen one is said': async (bench) => {
        const paths = {
            t5: 't5/buckets?query_length=160',
            deberta: 't5/buckets?query_length=160&variant=deberta&num_buckets=32&max_distance=128',
            shaw: 'shaw/indices?query_length=32&max_relative_position=8',
            swin: 'swin/index?window_height=7&window_width=7',
        };
        for (const [scheme, path] of Object.entries(paths)) {
            const page = await bench.page(`#/biases?scheme=${scheme}`);
            const cells = (await bench.json(`/v1/${path}`)).data.flat();
            const all = [...new Set(cells)].sort((a, b) => a - b);
            const few = all.length <= 48;
            const listed = few ? '.buckets button' : '.part-map datalist option:not(:first-child)';
            const shown = await page.$$eval(listed, (list) =>
                list.map((each) => Number(each.dataset.bucket ?? each.value)),
            );
            assert.deepEqual(shown, all, scheme);
            if (few) await page.click('.buckets button:nth-child(3)');
            else await bench.choose(page, 'bucket', String(all[2]));
            const address = await bench.address(page);
            assert.ok(address.endsWith(`bucket=${all[2]}`), address);
            const count = cells.filter((cell) => cell === all[2]).length.toLocaleString('en');
            assert.match(await page.textContent('[data-buckets] + .note'), new RegExp(`has ${count} of`));
        }
    },
    'the exercises know the answers of the server': async (bench) => {
        const page = await bench.page('#/biases');
        const { data } = await bench.json('/v1/t5/buckets?query_length=101');
        assert.deepEqual(await bench.answered(page, ['0.70711', String(data[100][0]), '169']), [
            'Right: 0.7071067812 ',
            `Right: ${data[100][0]} `,
            'Right: 169 ',
        ]);
    },
};
