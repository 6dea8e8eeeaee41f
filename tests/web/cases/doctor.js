// doctor.js - what is wrong with a file, and where it begins to be wrong.
import assert from 'node:assert/strict';

async function dropped(bench, page, { path, name }) {
    const buffer = Buffer.from(await bench.raw(path));
    await page.setInputFiles('.drop input', { name, mimeType: 'application/octet-stream', buffer });
    await bench.settled(page);
}

export const cases = {
    'a wrong safetensors is diagnosed, and its first wrong place is marked': async (bench) => {
        const page = await bench.page('#/doctor?rope_theta=500000');
        await dropped(bench, page, {
            path: '/v1/rope/table?head_dim=64&positions=0:128&format=safetensors',
            name: 'rope.safetensors',
        });
        assert.match(
            await page.textContent('.finding'),
            /It is not what it claims to be: rope_theta was 10000, not 500000/,
        );
        assert.match(await page.textContent('.report'), /first wrong placecos, position 1, pair 1/);
        const facts = await bench.readout(page, '.difference .readout:not(.scalars)');
        assert.equal(facts.position, '1');
        assert.equal(facts.pair, '1');
        const [got, wanted] = await Promise.all(
            [10000, 500000].map(
                async (theta) =>
                    (await bench.json(`/v1/rope/table?head_dim=64&positions=1&rope_theta=${theta}`)).cos.data[0][1],
            ),
        );
        const difference = Number(facts.value.replace('−', '-'));
        assert.ok(Math.abs(difference - (got - wanted)) < 1e-7, `${difference} for ${got - wanted}`);
    },
    'a model is chosen for a file, and a .npy is right': async (bench) => {
        const page = await bench.page('#/doctor?encoding=sinusoidal');
        await dropped(bench, page, { path: '/v1/sinusoidal?d_model=32&positions=0:50&format=npy', name: 'pe.npy' });
        assert.match(await page.textContent('.finding.good'), /It is what it claims to be/);
        const other = await bench.page('#/doctor');
        await other.selectOption('[data-parameter="model"] select', 'llama-3.1-8b');
        await dropped(bench, other, {
            path: '/v1/rope/table?head_dim=128&rope_theta=500000&positions=0:64&format=safetensors',
            name: 'llama.safetensors',
        });
        assert.match(await other.textContent('.finding'), /not what it claims/);
        assert.match(await other.textContent('.diagnosis'), /scal|rope_type/);
    },
    'every sample has its verdict': async (bench) => {
        const words = {
            base: /rope_theta was 10000, not 500000/,
            scaling: /scal|rope_type/,
            pairing: /pairing was half/,
            slopes: /variant was formula/,
            right: /It is what it claims to be/,
        };
        const page = await bench.page('#/doctor');
        for (const [name, said] of Object.entries(words)) {
            await page.click(`[data-sample="${name}"]`);
            assert.match(await bench.text(page, '.finding'), said);
            assert.equal(await page.isVisible('.difference .figure'), name !== 'right');
        }
    },
    'a link to a sample shows the same': async (bench) => {
        const page = await bench.page('#/doctor');
        await page.click('[data-sample="base"]');
        await bench.settled(page);
        const text = await page.textContent('.report');
        const other = await bench.page(await bench.address(page));
        assert.equal(await other.textContent('.report'), text);
    },
    'what cannot be compared is said': async (bench) => {
        const page = await bench.page('#/doctor', { refused: true });
        await page.setInputFiles('.drop input', {
            name: 'x.txt',
            mimeType: 'text/plain',
            buffer: Buffer.from('no tensors'),
        });
        assert.match(
            await bench.text(page, '.part-verdict .error:not([hidden])'),
            /x\.txt is neither \.npy nor \.safetensors/,
        );
        await dropped(bench, page, {
            path: '/v1/sinusoidal?d_model=7&positions=0:5&format=safetensors',
            name: 'odd.safetensors',
        });
        assert.match(await page.textContent('.part-verdict .error'), /The server cannot compare this/);
    },
    'the exercises know the answers of the server': async (bench) => {
        const page = await bench.page('#/doctor');
        await page.click('[data-sample="scaling"]');
        await bench.settled(page);
        const pair = (await page.textContent('.report')).match(/pair (\d+)/)[1];
        assert.deepEqual(await bench.answered(page, ['10000', pair]), ['Right: 10\u202f000 ', `Right: ${pair} `]);
    },
};
