// chapters.js - what is added to a word, a step as a rotation, and five schemes of one sentence.
import assert from 'node:assert/strict';

const centre = (page, selector) =>
    page.$$eval(selector, (list) =>
        list.map((each) => [Number(each.getAttribute('cx')), Number(each.getAttribute('cy'))]),
    );

export const cases = {
    'M_k takes PE(pos) to PE(pos + k)': async (bench) => {
        const page = await bench.page('#/step?pos=9&k=-4');
        const dots = await centre(page, '.circles .landed');
        const goals = await centre(page, '.circles .goal');
        assert.equal(dots.length, 6);
        assert.deepEqual(dots, goals);
        const there = await bench.json('/v1/sinusoidal?d_model=64&positions=5&dtype=float64');
        assert.deepEqual(
            dots[0],
            [52 * there.data[0][1], -52 * there.data[0][0]].map((at) => Number(at.toFixed(2))),
        );
        const words = await page.textContent('.landing');
        assert.match(words, /From position 9 to 5/);
        assert.ok(Number(words.match(/is ([\d.e−]+?)\.$/)[1].replace('−', '-')) < 1e-14, words);
        const matrix = await page.$eval('.circle math', (math) =>
            [...math.querySelectorAll('mn')].map((n) => n.textContent),
        );
        const { data } = await bench.json('/v1/sinusoidal/offset?d_model=64&offset=-4');
        assert.deepEqual(
            matrix,
            data[0].flat().map((value) => value.toFixed(4).replace('-', '−')),
        );
    },
    'the table of the turning has what was turned, where it landed, and the goal': async (bench) => {
        const page = await bench.page('#/step?pos=9&k=-4');
        const rows = await bench.table(page, '.part-turn');
        const { data } = await bench.json('/v1/sinusoidal?d_model=64&positions=9,5&dtype=float64');
        assert.deepEqual(
            rows.map(([from, , to]) => [from, to]),
            data[0].map((from, i) => [from, data[1][i]]),
        );
        assert.ok(rows.every(([, landed, to]) => Math.abs(landed - to) < 1e-14));
    },
    'the turning ends where M_k lands': async (bench) => {
        const page = await bench.page('#/step', { reducedMotion: 'no-preference' });
        const before = await centre(page, '.circles .landed');
        await page.evaluate(() => {
            globalThis.seen = new Set();
            new MutationObserver((list) =>
                list.forEach(({ target }) => globalThis.seen.add(target.getAttribute('cx'))),
            ).observe(document.querySelector('.circles .landed'), { attributes: true });
        });
        await page.click('.watch');
        await bench.until(
            page,
            'the end of the turn',
            ([x]) =>
                globalThis.seen.size > 30 &&
                document.querySelector('.circles .landed').getAttribute('cx') === String(x),
            before[0],
        );
        assert.deepEqual(await centre(page, '.circles .landed'), before);
    },
    'a link to the part of Waves that was the step goes on': async (bench) => {
        const page = await bench.page('#/waves?at=9,10&k=-4&fig=turn', { search: '?embed=1' });
        assert.match(await bench.address(page), /^#\/step\?pos=9/);
        assert.match(await page.textContent('.landing'), /From position 9 to 5/);
    },
    'who asks for less motion is told where the dots stand': async (bench) => {
        const page = await bench.page('#/step');
        await page.click('.watch');
        assert.match(await bench.text(page, '.part-turn .error'), /less motion: the dots stand at the end/);
    },
    'the exercise of the step knows the answer of the server': async (bench) => {
        const page = await bench.page('#/step');
        assert.deepEqual(await bench.answered(page, ['0.754']), ['Right: 0.7539022543 ']);
    },
    'a word and its position add up to the sums of the server': async (bench) => {
        const page = await bench.page('#/sums?s=dog+bites+dog&at=2,1');
        const { word, embedding, encoding, sum } = await bench.readout(page);
        const { data } = await bench.json('/v1/sinusoidal?d_model=64&positions=2');
        const value = (text) => Number(text.replace('−', '-'));
        assert.equal(word, 'dog');
        assert.equal(value(encoding), data[0][1]);
        assert.ok(Math.abs(value(embedding) + value(encoding) - value(sum)) < 1e-6);
        assert.match(
            await page.textContent('.part-sum'),
            /of its 64 channels 64 are equal before the sum, and \d after/,
        );
        const { embedding: first } = await bench.readout(await bench.page('#/sums?s=dog+bites+dog&at=0,1'));
        assert.equal(first, embedding);
    },
    'a phrase moves the cursor of all strips, and the address keeps it': async (bench) => {
        const page = await bench.page('#/sums');
        assert.equal(await bench.address(page), '#/sums');
        await page.click('.phrase >> nth=2');
        assert.match(await bench.address(page), /at=2,63/);
        assert.equal((await bench.readout(page)).channel, '63');
    },
    'every chapter has phrases, and each leads to its picture': async (bench) => {
        const chapters = (await bench.rooms()).slice(0, 9);
        for (const room of chapters) {
            const page = await bench.page(`#/${room}`);
            const count = await page.locator('.phrase').count();
            assert.ok(count > 1, room);
            for (let i = 0; i < count; i++) {
                const link = page.locator('.phrase').nth(i);
                const [, values] = (await link.getAttribute('href')).split('?');
                await link.click();
                const [, seen] = (await bench.address(page)).split('?');
                for (const each of values.split('&')) assert.ok(seen.split('&').includes(each), `${room}: ${each}`);
                assert.equal(await page.locator('.error:visible').count(), 0, `${room}: ${values}`);
            }
            await page.context().close();
        }
    },
    'on a narrow screen the parameters stay beside the picture': async (bench) => {
        for (const width of [360, 768]) {
            const page = await bench.page('#/waves', { viewport: { width, height: 800 } });
            const panel = page.locator('.split > .panel');
            const slider = page.locator('[data-parameter=d_model] input[type=range]');
            await page.locator('svg.fan').scrollIntoViewIfNeeded();
            assert.equal((await panel.boundingBox()).y, 0);
            assert.equal(await slider.isVisible(), false);
            await page.click('.sheet > summary');
            const { y, height } = await panel.boundingBox();
            assert.ok(y === 0 && height <= 0.45 * 800 + 1, `${y}, ${height}`);
            assert.ok(await slider.isVisible());
            await slider.press('ArrowRight');
            await bench.settled(page);
            assert.match(await page.textContent('.figure figcaption'), /d_model=65/);
            await page.context().close();
        }
        const page = await bench.page('#/waves');
        assert.ok(await page.isVisible('[data-parameter=d_model]'));
        assert.equal(await page.isVisible('.sheet > summary'), false);
    },
    'which schemes keep their shares when the sentence moves, and what is past the training': async (bench) => {
        const page = await bench.page('#/which?before=9&trained=1024');
        const said = await page.$$eval('.columns .scheme', (list) =>
            list.map((each) => ({
                name: each.querySelector('h2').textContent,
                depends: each.querySelector('.depends').textContent.split(':')[0],
                far: each.querySelector('.far-words').textContent,
            })),
        );
        assert.deepEqual(
            said.map(({ name, depends }) => [name, depends]),
            [
                ['Learned', 'Both positions'],
                ['Sinusoidal', 'Both positions'],
                ['Shaw, T5', 'The distance alone'],
                ['RoPE', 'The distance alone'],
                ['ALiBi', 'The distance alone'],
            ],
        );
        const values = 'head_dim=128&rope_theta=10000&max_position_embeddings=1024&target_length=8192';
        const { unseen_pairs: unseen } = await bench.json(`/v1/rope/compare?${values}&rope_types=default`);
        assert.match(said[3].far, new RegExp(` ${unseen.data[0]} of 64 pairs`));
        const { data } = await bench.json('/v1/t5/buckets?query_length=256');
        const [last, from] = [data[255][0], 256 - data[255].lastIndexOf(data[255][0]) - 1];
        assert.match(said[2].far, new RegExp(`from ${from} on share bucket ${last}:`));
    },
};
