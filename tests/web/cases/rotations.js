// rotations.js - the story of the room: the score follows m - n, and stands still when both move.
import assert from 'node:assert/strict';

const score = (page) => page.textContent('.score');
const KNOWN = '#/rotations?q=0.3,-1.2&k=1,0.5';

export const cases = {
    'the score of the known pair': async (bench) => {
        const page = await bench.page(KNOWN);
        assert.ok(Math.abs(Number(await score(page)) - 1.3524) < 5e-5);
    },
    'it stands still when both move, and moves with one': async (bench) => {
        const page = await bench.page('#/rotations');
        const before = await score(page);
        await page.focus('.knob-both');
        for (const key of ['ArrowRight', 'PageUp', 'PageUp']) await page.keyboard.press(key);
        await bench.settled(page);
        assert.match(await page.evaluate(() => location.hash), /m=26&n=24/);
        assert.equal(await score(page), before);
        await page.focus('.knob-m');
        await page.keyboard.press('ArrowRight');
        await bench.settled(page);
        assert.notEqual(await score(page), before);
    },
};
