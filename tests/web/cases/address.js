// address.js - the address holds the state: links, Back and Forward.
import assert from 'node:assert/strict';

const picture = (page) => page.$eval('canvas.heatmap', (canvas) => canvas.toDataURL());

export const cases = {
    'a field has what the room or the model says, and another value stays': async (bench) => {
        for (const [place, name, usual, other] of [
            ['biases?scheme=swin', 'window_height', '7', '3'],
            ['biases?scheme=shaw', 'query_length', '32', '16'],
            ['reach?model=llama-3.1-8b', 'rope_theta', '500000', '10000'],
            ['doctor?sample=scaling&model=llama-3.1-8b', 'rope_theta', '500000', '10000'],
            ['any/rope/frequencies?model=llama-3.1-8b', 'rope_theta', '500000', '10000'],
        ]) {
            const page = await bench.page(`#/${place}`);
            await page.$$eval('.panel .more', (list) => list.forEach((each) => (each.open = true)));
            const field = page.locator(`[data-parameter=${name}] input.number`);
            const change = async (from, to) => {
                assert.equal(await field.inputValue(), from, place);
                await field.fill(to);
                await field.press('Enter');
                return bench.address(page);
            };
            assert.match(await change(usual, other), new RegExp(`${name}=${other}(&|$)`), place);
            assert.doesNotMatch(await change(other, usual), new RegExp(name), place);
            await page.context().close();
        }
    },
    'a link opened elsewhere shows the same picture': async (bench) => {
        const page = await bench.page('#/any/rope/table?head_dim=64');
        await page.click('label:has-text("sin") input');
        await page.focus('canvas.heatmap');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', '+', '+', 'ArrowDown'])
            await page.keyboard.press(key);
        const hash = await bench.address(page);
        assert.match(hash, /win=/);
        const facts = await bench.readout(page);
        assert.ok(hash.length < 120, `the address is long: ${hash}`);
        const other = await bench.page(hash);
        assert.deepEqual(await bench.readout(other), facts);
        assert.equal(await other.$eval('input[value="sin"]', (input) => input.checked), true);
        await other.focus('canvas.heatmap');
        await bench.settled(other);
        assert.equal(await picture(other), await picture(page));
    },
    'colours are those of the place, wherever one was before': async (bench) => {
        const near = '#/any/alibi/bias?num_heads=1&query_length=2048&form=causal&win=0,40,0,40';
        const page = await bench.page(near.replace('0,40,0,40', '2008,2048,0,40'));
        await page.evaluate((to) => (location.hash = to), near);
        await bench.settled(page);
        const other = await bench.page(near);
        // From −10 to 0: the least is −2047 / 256, in the last row.
        for (const each of [page, other]) assert.equal(await bench.text(each, '.heat .legend'), '−100');
        assert.equal(await picture(page), await picture(other));
    },
    'a picture has the colours of the theme, and changes with it': async (bench) => {
        const hash = '#/any/sinusoidal?d_model=64&at=5,10';
        const page = await bench.page(hash, { colorScheme: 'light' });
        const other = await bench.page(hash, { colorScheme: 'dark' });
        const light = await picture(page);
        await page.emulateMedia({ colorScheme: 'dark' });
        await bench.settled(page);
        assert.equal(await picture(page), await picture(other));
        assert.notEqual(await picture(page), light);
    },
    'Back and Forward go through the steps': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        const field = '[data-parameter=d_model] input.number';
        for (const value of ['32', '16']) {
            await page.fill(field, value);
            await page.press(field, 'Enter');
            await bench.until(
                page,
                'the figure of the address',
                (n) => document.querySelector('figcaption')?.textContent.includes(`d_model=${n}`),
                value,
            );
        }
        for (const [act, value] of [
            ['goBack', '32'],
            ['goBack', '64'],
            ['goForward', '32'],
        ]) {
            await page[act]();
            await bench.until(
                page,
                'the figure of the address',
                (n) => document.querySelector('figcaption')?.textContent.includes(`d_model=${n}`),
                value,
            );
            assert.equal(await page.inputValue(field), value);
        }
    },
    'Back returns from a zoom and from a cell': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        await page.focus('canvas.heatmap');
        for (const key of ['ArrowDown', 'ArrowRight', '+', '+']) await page.keyboard.press(key);
        const there = await bench.address(page);
        assert.match(there, /at=1,1/);
        assert.match(there, /win=/);
        // However slow the machine is, it is as many steps as keys at most.
        for (let i = 0; i < 4 && (await bench.address(page)) !== '#/any/sinusoidal?d_model=64'; i++)
            await page.goBack();
        assert.equal(await bench.address(page), '#/any/sinusoidal?d_model=64');
        await page.goForward();
        assert.match(await bench.address(page), /at=1,[01]/);
    },
    'a place that is left writes no address any more': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        await page.focus('canvas.heatmap');
        await page.evaluate(() => {
            const canvas = document.querySelector('canvas.heatmap');
            for (let i = 0; i < 3; i++)
                canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
            location.hash = '#/words';
        });
        assert.equal(await bench.address(page), '#/words');
        await page.goBack();
        assert.match(await bench.address(page), /^#\/any\/sinusoidal/);
    },
    'every room comes back from its own address': async (bench) => {
        for (const room of await bench.rooms()) {
            const page = await bench.page(`#/${room}`);
            assert.equal(await page.getAttribute(`#rooms a[data-room=${room}]`, 'aria-current'), 'page');
            await page.context().close();
        }
    },
    'an embedded figure stands without the page around it': async (bench) => {
        const page = await bench.page('#/any/rope/table?head_dim=64', { search: '?embed=1' });
        for (const around of ['.top', '.foot', '.panel']) assert.equal(await page.isVisible(around), false, around);
        assert.equal(await page.isVisible('canvas.heatmap'), true);
    },
};
