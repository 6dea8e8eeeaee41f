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
        await bench.until(page, 'the figure that was asked for', () =>
            document.querySelector('figcaption').textContent.includes('d_model=32'),
        );
        await server.stop();
    },
    'a server that is away before anything is shown promises nothing that stays': async (bench) => {
        const server = await new Server().startOwn();
        const page = await bench.page('', { refused: true, server });
        await server.stop();
        await page.evaluate(() => (location.hash = '#/any/sinusoidal?d_model=64'));
        await page.waitForSelector('#status:not([hidden])');
        assert.equal(await status(page), 'The server does not answer. This page asks again until it is back.');
        await server.start(server.port);
        await page.waitForSelector('#status', { state: 'hidden' });
        await page.waitForSelector('.figure');
        await server.stop();
    },
    'a picture stays until the next one is there': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const drawn = () =>
            page.$eval('canvas.heatmap', (canvas) => {
                const [x, y] = [canvas.width >> 1, canvas.height >> 1];
                const copy = new OffscreenCanvas(64, 64).getContext('2d', { willReadFrequently: true });
                copy.drawImage(canvas, x, y, 64, 64, 0, 0, 64, 64);
                const { data } = copy.getImageData(0, 0, 64, 64);
                return new Set(new Uint32Array(data.buffer)).size;
            });
        let release;
        const held = new Promise((resolve) => (release = resolve));
        let parts = 0;
        await page.route('**/v1/sinusoidal*d_model=512*', async (route) => {
            parts++;
            if (parts > 1) await held;
            await route.continue();
        });
        await page.fill('[data-parameter=d_model] input.number', '512');
        await bench.until(page, 'the figure that was asked for', () =>
            document.querySelector('figcaption').textContent.includes('d_model=512'),
        );
        await page.evaluate(
            () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
        );
        assert.ok((await drawn()) > 8, 'the picture is blank');
        assert.ok(parts > 1);
        release();
        await bench.settled(page);
        assert.ok((await drawn()) > 8);
    },
    'typing acts while typing, and is one step of the history': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const field = page.locator('[data-parameter=d_model] input.number');
        await field.click();
        await field.press('Control+a');
        await page.keyboard.type('128', { delay: 20 });
        assert.match(await bench.address(page), /d_model=128/);
        assert.equal(await field.evaluate((each) => each === document.activeElement), true);
        await page.keyboard.press('Tab');
        await bench.settled(page);
        await page.goBack();
        await bench.settled(page);
        assert.equal(await field.inputValue(), '64');
    },
    'what is below the pointer is said beside it': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const box = await (await page.$('canvas.heatmap')).boundingBox();
        await page.mouse.move(box.x + box.width - 30, box.y + 40);
        await bench.settled(page);
        const tip = page.locator('.picture .heat .tip');
        const { position, dimension, value } = await bench.readout(page, '.figure .readout:not(.scalars)');
        assert.equal(await tip.textContent(), `position ${position}, dimension ${dimension}: ${value}`);
        const at = await tip.boundingBox();
        assert.ok(Math.abs(at.x + at.width - (box.x + box.width - 30)) < 40 && Math.abs(at.y - box.y - 40) < 60);
    },
    'a file is taken wherever it is dropped': async (bench) => {
        const page = await bench.page('#/waves');
        const drop = (name, bytes) =>
            page.evaluate(
                ([called, numbers]) => {
                    const data = new DataTransfer();
                    data.items.add(new File([new Uint8Array(numbers)], called));
                    document
                        .querySelector('#room')
                        .dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
                },
                [name, [...bytes]],
            );
        await drop('pe.npy', await bench.raw('/v1/sinusoidal?d_model=16&positions=0:8&format=npy'));
        await page.waitForSelector('.room-doctor .finding.good');
        const config = { model_type: 'gpt2', n_positions: 64, n_embd: 64, n_head: 2, n_layer: 2 };
        await page.evaluate(() => (location.hash = '#/words'));
        await page.waitForSelector('.room-words');
        await drop('config.json', Buffer.from(JSON.stringify(config)));
        await page.waitForSelector('.room-models .model h2:text("Your configuration")');
    },
};
