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
        await page.focus('.knob-both');
        for (const key of ['ArrowRight', 'PageUp', 'PageUp']) await page.keyboard.press(key);
        assert.match(await bench.address(page), /m=26&n=24/);
        assert.equal(await bench.text(page, '.score'), before);
        await page.focus('.knob-m');
        await page.keyboard.press('ArrowRight');
        await bench.settled(page);
        assert.notEqual(await bench.text(page, '.score'), before);
    },
    'a pair is chosen, and its formula has its numbers': async (bench) => {
        const page = await bench.page('#/rotations');
        await page.click('.clock:nth-child(3)');
        assert.match(await bench.address(page), /pair=2/);
        assert.match(await page.textContent('.stage .readout'), /channels4 and 5/);
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
