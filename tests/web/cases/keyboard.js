// keyboard.js - everything works without a pointer.
import assert from 'node:assert/strict';

const focused = (page) =>
    page.evaluate(() => {
        const element = document.activeElement;
        const style = getComputedStyle(element);
        const mark = element.matches('.segments input') ? getComputedStyle(element.nextElementSibling) : style;
        const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
        return {
            tag: element.tagName,
            name: name.trim().slice(0, 40),
            outline: mark.outlineStyle !== 'none' && mark.outlineWidth !== '0px',
        };
    });

export const cases = {
    'Tab goes through each room, always seen and named': async (bench) => {
        for (const room of await bench.rooms()) {
            const page = await bench.page(`#/${room}`);
            const seen = [];
            for (let i = 0; i < 80; i++) {
                await page.keyboard.press('Tab');
                const at = await focused(page);
                if (at.tag === 'BODY') break;
                assert.ok(at.outline, `${room}: focus is not seen at ${at.tag} "${at.name}"`);
                assert.ok(at.name !== '', `${room}: a ${at.tag} has no name`);
                seen.push(at.tag);
            }
            assert.ok(seen.includes('A') && seen.length > 8, `${room}: Tab reaches ${seen.join(' ')}`);
            await page.context().close();
        }
    },
    'arrows move the cursor of a heatmap, plus and minus zoom': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        await page.focus('canvas.heatmap');
        for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'Shift+ArrowDown']) await page.keyboard.press(key);
        let facts = await bench.readout(page);
        assert.deepEqual([facts.position, facts.dimension], ['11', '2']);
        await page.keyboard.press('End');
        facts = await bench.readout(page);
        assert.deepEqual([facts.position, facts.dimension], ['127', '63']);
        await page.keyboard.press('+');
        await bench.until(page, 'a part', () => location.hash.includes('win='));
        await page.keyboard.press('0');
        await bench.until(page, 'the whole', () => !location.hash.includes('win='));
    },
    'the pointer pans and zooms, down to one cell and back': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const box = await (await page.$('canvas.heatmap')).boundingBox();
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const view = async () =>
            (await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('win') ?? '0,128,0,64'))
                .split(',')
                .map(Number);
        await page.mouse.click(x, y);
        for (let i = 0; i < 30; i++) await page.mouse.wheel(0, -400);
        await bench.until(page, 'a single row', () => {
            const [top, bottom] = (new URLSearchParams(location.hash.split('?')[1]).get('win') ?? '0,9')
                .split(',')
                .map(Number);
            return bottom - top <= 1.01;
        });
        const near = await view();
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(x, y + box.height / 2, { steps: 5 });
        await page.mouse.up();
        await bench.until(
            page,
            'a row further up',
            (top) => Number(new URLSearchParams(location.hash.split('?')[1]).get('win').split(',')[0]) < top,
            near[0] - 0.3,
        );
        for (let i = 0; i < 40; i++) await page.mouse.wheel(0, 400);
        await bench.until(page, 'the whole', () => !location.hash.includes('win='));
    },
    'choices are buttons, and many of which one is taken are a list': async (bench) => {
        const page = await bench.page('#/any/rope/compare?head_dim=64', { refused: true });
        const { parameters } = (await bench.json('/v1')).encodings.find(({ path }) => path === '/v1/rope/compare');
        const { choices } = parameters.find(({ name }) => name === 'rope_types');
        const row = '[data-parameter=rope_types]';
        assert.deepEqual(
            await page.$$eval(`${row} .segments input`, (list) => list.map(({ value }) => value)),
            choices,
        );
        await page.focus(`${row} input[value=ntk]`);
        await page.keyboard.press('Space');
        await page.focus(`${row} input[value=default]`);
        await page.keyboard.press('Space');
        assert.match(await bench.address(page), /rope_types=default,ntk/);
        await page.evaluate(() => (location.hash = '#/any/rope/frequencies?head_dim=64'));
        await page.waitForSelector('[data-parameter=rope_type] input', { state: 'attached' });
        await page.click('summary:text("more parameters")');
        await bench.choose(page, 'rope_type', 'linear');
        assert.match(await bench.address(page), /rope_type=linear/);
        assert.equal(await page.$$eval('.form select', (list) => list.length), 0);
    },
    'a list that is searched takes a part of a name, goes back, and says what it does not have': async (bench) => {
        const page = await bench.page('#/models');
        const field = page.locator('[data-parameter=model] input.search');
        const own = await field.inputValue();
        await field.focus();
        assert.equal(await field.inputValue(), '');
        await field.press('Tab');
        assert.equal(await field.inputValue(), own);
        await bench.choose(page, 'model', 'gpt oss 20b');
        assert.match(await bench.address(page), /model=gpt-oss-20b/);
        await bench.choose(page, 'model', 'no such model');
        assert.equal(await field.evaluate((each) => each.validationMessage), 'Nothing here is called “no such model”.');
        assert.match(await bench.address(page), /model=gpt-oss-20b/);
        await page.goBack();
        await bench.settled(page);
        await page.focus('#room');
        assert.equal(await field.inputValue(), own);
    },
    'a slider whose bounds span decades is logarithmic, below 0 too': async (bench) => {
        for (const [resource, name, place, value] of [
            ['swin/index', 'window_height', 500, 32],
            ['sinusoidal', 'base', 500, 1e6],
            ['sinusoidal/offset', 'offset', 500, 0],
            ['sinusoidal/offset', 'offset', 250, -94906265],
        ]) {
            const page = await bench.page(`#/any/${resource}`, { refused: true });
            const shown = await page.$eval(
                `[data-parameter=${name}]`,
                (row, at) => {
                    const [slider, field] = row.querySelectorAll('input');
                    slider.value = at;
                    slider.dispatchEvent(new Event('input'));
                    return Number(field.value);
                },
                place,
            );
            assert.equal(shown, value, `${resource} ${name}`);
            await bench.settled(page);
            assert.equal(await page.$eval(`[data-parameter=${name}] input`, (slider) => Number(slider.value)), place);
            await page.context().close();
        }
    },
    'a swipe over a picture scrolls the page, after a tap too': async (bench) => {
        const small = { hasTouch: true, viewport: { width: 360, height: 700 } };
        const page = await bench.page('#/any/sinusoidal?d_model=64', small);
        await page.tap('canvas.heatmap');
        const [focused, touch] = await page.$eval('canvas.heatmap', (canvas) => [
            document.activeElement === canvas,
            getComputedStyle(canvas).touchAction,
        ]);
        assert.deepEqual([focused, touch], [true, 'pan-y']);
    },
    'two fingers that move apart zoom in, and together out': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const pinch = (from, to) =>
            page.$eval(
                'canvas.heatmap',
                (canvas, [before, after]) => {
                    canvas.setPointerCapture = () => undefined;
                    const { left, top, width, height } = canvas.getBoundingClientRect();
                    const send = (type, pointerId, x) =>
                        canvas.dispatchEvent(
                            new PointerEvent(type, {
                                pointerId,
                                pointerType: 'touch',
                                clientX: left + width / 2 + x,
                                clientY: top + height / 2,
                                bubbles: true,
                            }),
                        );
                    send('pointerdown', 1, -before / 2);
                    send('pointerdown', 2, before / 2);
                    send('pointermove', 1, -after / 2);
                    send('pointermove', 2, after / 2);
                    send('pointerup', 1, -after / 2);
                    send('pointerup', 2, after / 2);
                },
                [from, to],
            );
        await pinch(100, 200);
        await bench.until(page, 'the half that was pinched', () => {
            const [top, bottom, left, right] = (new URLSearchParams(location.hash.split('?')[1]).get('win') ?? '')
                .split(',')
                .map(Number);
            return Math.abs(bottom - top - 64) < 0.1 && Math.abs(right - left - 32) < 0.1;
        });
        await pinch(200, 80);
        await bench.until(page, 'the whole', () => !location.hash.includes('win='));
    },
};
