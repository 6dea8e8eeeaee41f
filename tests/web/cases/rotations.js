// rotations.js - the story of the room: the score follows m - n, and stands still when both move.
import assert from 'node:assert/strict';

const KNOWN = '#/rotations?q=0.3,-1.2&k=1,0.5';

export const cases = {
    'the score of the known pair': async (bench) => {
        const page = await bench.page(KNOWN);
        assert.ok(Math.abs(Number(await bench.text(page, '.score')) - 1.3524) < 5e-5);
    },
    'it stands still when both move, and moves with one': async (bench) => {
        const page = await bench.page('#/rotations');
        const before = await bench.text(page, '.score');
        await page.focus('[data-parameter=both] input[type=range]');
        for (const key of ['ArrowRight', 'PageUp', 'PageUp']) await page.keyboard.press(key);
        assert.match(await bench.address(page), /m=26&n=24/);
        assert.equal(await bench.text(page, '.score'), before);
        await page.focus('[data-parameter=m] input[type=range]');
        await page.keyboard.press('ArrowRight');
        await bench.settled(page);
        assert.notEqual(await bench.text(page, '.score'), before);
    },
    'the table of the clocks adds up to the score': async (bench) => {
        const page = await bench.page('#/rotations');
        const rows = await bench.table(page, '.part-clocks');
        const sum = rows.reduce((all, [share]) => all + share, 0);
        assert.ok(Math.abs(sum - Number(await bench.text(page, '.score'))) < 1e-14);
        const { inv_freq } = await bench.json('/v1/rope/frequencies?head_dim=8&dtype=float64');
        assert.deepEqual(
            rows.map(([, frequency]) => frequency),
            inv_freq.data,
        );
    },
    'a pair is chosen, and its formula has its numbers': async (bench) => {
        const page = await bench.page('#/rotations');
        await page.click('.clock:nth-child(3)');
        assert.match(await bench.address(page), /pair=2/);
        const facts = await bench.readout(page, '.stage .readout');
        assert.equal(facts.channels, '4 and 5');
        const answer = await fetch(`${bench.server.url}/v1/rope/scores`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({
                q: [[0.3, -1.2, 1, 0.4, -0.5, 0.9, 1.1, -0.3]],
                k: [[1, 0.5, 0.8, -0.6, 0.7, 0.9, -0.4, 1]],
                query_positions: [5],
                key_positions: [3],
                per_pair: true,
                dtype: 'float64',
                format: 'raw',
            }),
        });
        const shares = await answer.arrayBuffer();
        assert.equal(Number(facts.share.replace('−', '-')), new Float64Array(shares)[2]);
        assert.equal(facts.bits, `0x${new BigUint64Array(shares)[2].toString(16).padStart(16, '0')}`);
    },
    'a long head says how many clocks it has, and has all its channels': async (bench) => {
        const channels = Array.from({ length: 128 }, (_, i) => i / 64);
        const page = await bench.page(`#/rotations?q=${channels}&k=${channels}&pairing=half&pair=3`);
        assert.equal(await page.$$eval('.clock', (list) => list.length), 32);
        assert.match(await page.textContent('.stage'), /The first 32 of 64 pairs have clocks/);
        assert.equal(await page.$$eval('.pairings figure:last-child path', (list) => list.length), 64);
        assert.ok(await page.isVisible('.pairings [aria-label="half: channels 3 and 67 turn together"]'));
    },
    'rounded angles err the more, the further away': async (bench) => {
        const page = await bench.page('#/rotations?numerics=float32&angle=bfloat16');
        await page.waitForSelector('.drift .curve path.line');
        assert.equal(await page.isVisible('.drift canvas.heatmap'), true);
        const lines = await page.$$eval('.drift .curve path.line', (list) => list.length);
        assert.equal(lines, 3);
        await page.click('label:has-text("exact")');
        await page.waitForSelector('.drift', { state: 'hidden' });
    },
    'the exercises know the answers of the server': async (bench) => {
        const page = await bench.page('#/rotations');
        const said = await bench.answered(page, ['1.3524', '-1.1027', '54410']);
        assert.ok(
            said.every((each) => each.startsWith('Right')),
            said.join(' '),
        );
    },
};
