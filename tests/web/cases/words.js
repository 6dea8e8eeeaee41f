// words.js - the story of the room: without positions, another order moves numbers and changes none.
import assert from 'node:assert/strict';

/** The shares of each map of each panel, by the pair of words, and the verdicts. */
const panels = (page) =>
    page.$$eval('.scheme', (list) =>
        list.map((each) => ({
            said: each.querySelector('.said').textContent,
            maps: [...each.querySelectorAll('.map')].map((map) =>
                Object.fromEntries(
                    [...map.querySelectorAll('[data-pair]')].map((cell) => [cell.dataset.pair, cell.textContent]),
                ),
            ),
        })),
    );

const order = (page) => page.$$eval('.words .word', (list) => list.map((word) => word.textContent).join(' '));

export const cases = {
    'the sentence stands as it was given, and a move shows what it changes': async (bench) => {
        const page = await bench.page('#/words');
        assert.equal(await order(page), 'dog bites man');
        for (const { said, maps } of await panels(page)) {
            assert.equal(maps.length, 1);
            assert.match(said, /^Nothing has moved yet/);
        }
        await page.click('.phrase >> nth=0');
        assert.match(await bench.address(page), /to=2,1,0/);
        assert.equal(await order(page), 'man bites dog');
        assert.deepEqual(
            (await panels(page)).map(({ maps }) => maps.length),
            [3, 3, 3],
        );
    },
    'without positions the numbers move, with them they change': async (bench) => {
        const page = await bench.page('#/words?to=2,1,0');
        assert.equal(await order(page), 'man bites dog');
        const [none, sinusoid, rope] = await panels(page);
        assert.match(none.said, /^All 9 numbers are the same, bit for bit/);
        assert.deepEqual(none.maps[0], none.maps[1]);
        assert.ok(Object.values(none.maps[2]).every((text) => text === '0'));
        for (const { said, maps } of [sinusoid, rope]) {
            assert.match(said, /^9 of 9 numbers have changed/);
            assert.notDeepEqual(maps[0], maps[1]);
        }
    },
    'a share is explained with its numbers, in each scheme': async (bench) => {
        const number = (text) => Number(text.replace('−', '-'));
        for (const third of ['rope', 'alibi']) {
            const page = await bench.page(`#/words?third=${third}&at=0,2&to=2,1,0`);
            await bench.settled(page);
            const formulas = await page.$$eval('.readout math', (list) =>
                list.map((math) => ({
                    value: math.nextSibling.textContent.replace(' = ', ''),
                    exponents: [...math.querySelectorAll('msup')].map((each) =>
                        [...each.children[1].querySelectorAll('mn')].map((mn) => mn.textContent),
                    ),
                })),
            );
            assert.equal(formulas.length, 3);
            for (const { value, exponents } of formulas) {
                const terms = exponents.map((each) => {
                    const [score, root, slope = 0, distance = 0] = each.map(number);
                    return Math.exp(score / root - slope * distance);
                });
                const share = terms[0] / terms.slice(1).reduce((sum, each) => sum + each);
                assert.equal(terms.length, 4);
                assert.ok(Math.abs(share / number(value) - 1) < 1e-3, `${share} is not ${value}`);
            }
        }
    },
    'a share has its digits and its bits, those of the answer': async (bench) => {
        const page = await bench.page('#/words?at=0,2&to=2,1,0');
        const asked = [];
        page.on('request', (request) => request.url().endsWith('/v1/attention') && asked.push(request.postDataJSON()));
        await page.reload();
        const said = await bench.text(page, '.readout');
        assert.equal(asked.length, 3);
        for (const body of asked) {
            const answer = await fetch(`${bench.server.url}/v1/attention`, {
                method: 'POST',
                body: JSON.stringify({ ...body, format: 'raw' }),
                headers: { 'Content-Type': 'application/json' },
            });
            const words = new Uint32Array(await answer.arrayBuffer());
            // Of two orders of three words: dog and man as typed, and as moved to each other's place.
            const bits = [2, 9 + 6].map((at) => `0x${words[at].toString(16).padStart(8, '0')}`);
            assert.ok(said.includes(bits.join(' → ')), `${said} has no ${bits}`);
        }
    },
    'words are moved by arrow keys, and Back undoes it': async (bench) => {
        const page = await bench.page('#/words?to=2,1,0');
        await page.focus('.word:text-is("dog")');
        await page.keyboard.press('ArrowLeft');
        await bench.settled(page);
        assert.equal(await order(page), 'man dog bites');
        assert.match(await bench.address(page), /to=2,0,1/);
        assert.match((await panels(page))[0].said, /^All 9 numbers are the same.* have moved\.$/);
        await page.goBack();
        await bench.settled(page);
        assert.equal(await order(page), 'man bites dog');
    },
    'ALiBi knows no direction, and says so': async (bench) => {
        const page = await bench.page('#/words?third=alibi&to=2,1,0');
        assert.match((await panels(page))[2].said, /^All 9 numbers are the same.* knows distances alone/);
        await page.focus('.word:text-is("dog")');
        await page.keyboard.press('ArrowLeft');
        await bench.settled(page);
        assert.match((await panels(page))[2].said, /numbers have changed/);
    },
    'the tiles stay on the screen above what they move, on a narrow one, too': async (bench) => {
        for (const width of [360, 1280]) {
            const page = await bench.page('#/words?to=2,1,0', { viewport: { width, height: 700 } });
            await page.locator('.readout').scrollIntoViewIfNeeded();
            const { y, height } = await page.locator('.words').boundingBox();
            assert.ok(y >= 0 && y + height < 200, `the tiles are at ${y}`);
            await page.focus('.word:text-is("man")');
            await page.keyboard.press('ArrowRight');
            await bench.settled(page);
            assert.equal(await order(page), 'bites man dog');
            await page.context().close();
        }
    },
    'words are dragged': async (bench) => {
        const page = await bench.page('#/words?to=2,1,0');
        const middle = async (word) => {
            const box = await (await page.$(`.word:text-is("${word}")`)).boundingBox();
            return [box.x + box.width / 2, box.y + box.height / 2];
        };
        const last = await middle('dog');
        await page.mouse.move(...(await middle('man')));
        await page.mouse.down();
        await page.mouse.move(...last, { steps: 6 });
        await page.mouse.up();
        await bench.settled(page);
        assert.equal(await order(page), 'bites dog man');
    },
    'the exercises know their answers': async (bench) => {
        const page = await bench.page('#/words');
        const shown = (await panels(page))[0].maps[0]['0,2'];
        const answers = [null, '0.3333', '0.3072'];
        const forms = await page.$$('.exercise');
        for (const [i, answer] of answers.entries()) {
            if (answer === null) continue;
            await (await forms[i].$('input')).fill(answer);
            await (await forms[i].$('button')).click();
            await forms[i].waitForSelector('.verdict:has-text("Right")');
        }
        await (await forms[0].$('input')).fill('0.9');
        await (await forms[0].$('button')).click();
        await forms[0].waitForSelector('.verdict:has-text("Not yet")');
        assert.equal(shown, '.71');
    },
};
