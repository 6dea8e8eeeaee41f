// failures.js - what is refused is said at its field; a server that is busy or away is said calmly.
import assert from 'node:assert/strict';
import { Server } from '../bench.js';

const status = (page) => page.textContent('#status');

export const cases = {
    'a bad value shows the words of the server at its field': async (bench) => {
        const page = await bench.page('#/any/rope/table?head_dim=64', { refused: true });
        await page.fill('[data-parameter=head_dim] input.number', '7777777');
        await page.press('[data-parameter=head_dim] input.number', 'Enter');
        const error = page.locator('[data-parameter=head_dim] .error');
        await error.waitFor({ state: 'visible' });
        const problem = await bench.json('/v1/rope/table?head_dim=7777777');
        assert.equal(await error.textContent(), problem.errors[0].detail);
        assert.equal(await page.getAttribute('[data-parameter=head_dim] input.number', 'aria-invalid'), 'true');
        // What is on screen already is no error any more.
        await page.fill('[data-parameter=head_dim] input.number', '64');
        await page.press('[data-parameter=head_dim] input.number', 'Enter');
        await error.waitFor({ state: 'hidden' });
    },
    'a fault in a body is shown at the member that has it': async (bench) => {
        const page = await bench.page('#/any/rope/scores', { refused: true });
        await page.fill('[data-parameter=k] textarea', '[[1,2]]');
        await page.press('[data-parameter=k] textarea', 'Tab');
        assert.match(await bench.text(page, '.error:not([hidden])'), /\d/);
    },
    'a busy server is asked again': async (bench) => {
        const page = await bench.page('', { refused: true });
        let refusals = 0;
        await page.route('**/v1/alibi/slopes*', (route) => {
            refusals++;
            if (refusals > 1) return route.continue();
            return route.fulfill({
                status: 503,
                headers: { 'Retry-After': '1', 'Content-Type': 'application/problem+json' },
                body: JSON.stringify({
                    type: '/problems/overloaded',
                    title: 'The server is busy',
                    status: 503,
                    code: 'overloaded',
                }),
            });
        });
        await page.evaluate(() => (location.hash = '#/any/alibi/slopes'));
        await page.waitForSelector('.figure[data-path="/v1/alibi/slopes"]');
        assert.equal(refusals >= 2, true);
    },
    'a table or a file that is refused says why in the line': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64&positions=0:20000&win=9000,9010,0,64', {
            refused: true,
        });
        const problem = {
            type: 'about:blank',
            title: 'No such rows',
            status: 404,
            code: 'test',
            detail: 'They are gone.',
        };
        const refuse = (route) =>
            route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify(problem) });
        await page.route('**/v1/sinusoidal*', refuse);
        await page.click('summary:text("Table")');
        await page.waitForSelector('#status:has-text("No such rows: They are gone.")');
        await page.evaluate(() => (location.hash = '#/words'));
        await page.waitForSelector('#status', { state: 'hidden' });
        await page.route('**/v1/attention', refuse);
        await page.click('summary:text("Code and files") >> nth=0');
        await page.click('.files button >> nth=0');
        await page.waitForSelector('#status:has-text("They are gone.")');
    },
    'while a room is on its way, a still skeleton is seen in its place': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64', { reducedMotion: 'no-preference' });
        let release;
        const held = new Promise((resolve) => (release = resolve));
        await page.route('**/rooms/waves.js', (route) => held.then(() => route.continue()));
        await page.evaluate(() => (location.hash = '#/waves'));
        await page.waitForSelector('.room-any .figure', { state: 'hidden' });
        const seen = await page.evaluate(() => {
            const probe = document.body.appendChild(document.createElement('div'));
            probe.className = 'skeleton';
            const [room, skeleton] = [document.querySelector('#room'), probe].map((each) => getComputedStyle(each));
            return { room: room.backgroundColor, skeleton: skeleton.backgroundColor, motion: skeleton.animationName };
        });
        assert.deepEqual(seen, { room: seen.skeleton, skeleton: seen.skeleton, motion: 'none' });
        release();
        await page.waitForSelector('.room-waves:not([aria-busy]) .figure', { state: 'visible' });
    },
    'a server that goes away is missed calmly, and its return is seen': async (bench) => {
        const server = await new Server().startOwn();
        const page = await bench.page('#/any/sinusoidal?d_model=64', { refused: true, server });
        await server.stop();
        await page.fill('[data-parameter=d_model] input.number', '32');
        await page.press('[data-parameter=d_model] input.number', 'Enter');
        await page.waitForSelector('#status:not([hidden])');
        assert.match(await status(page), /does not answer/);
        assert.equal(await page.isVisible('canvas.heatmap'), true, 'what was on screen stays');
        await server.start(server.port);
        await page.waitForSelector('#status', { state: 'hidden' });
        await page.waitForFunction(() => document.querySelector('figcaption').textContent.includes('d_model=32'));
        await server.stop();
    },
};
