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
        await bench.choose(other, 'model', 'llama-3.1-8b');
        await dropped(bench, other, {
            path: '/v1/rope/table?head_dim=128&rope_theta=500000&positions=0:64&format=safetensors',
            name: 'llama.safetensors',
        });
        assert.match(await other.textContent('.finding'), /not what it claims/);
        assert.match(await other.textContent('.diagnosis'), /scal|rope_type/);
    },
    'a map of buckets is judged, and the encoding is that of the model': async (bench) => {
        const page = await bench.page('#/doctor', { refused: true });
        const path = '/v1/t5/buckets?query_length=16&num_buckets=16&format=safetensors';
        await bench.choose(page, 'model', 't5-small');
        await dropped(bench, page, { path, name: 'buckets.safetensors' });
        assert.match(await page.textContent('.finding'), /num_buckets was 16, not 32/);
        assert.equal(await bench.address(page), '#/doctor?model=t5-small&encoding=t5/buckets&dat=0,1');
        const facts = await bench.readout(page, '.difference .readout:not(.scalars)');
        const [got, wanted] = await Promise.all(
            [16, 32].map(async (n) => (await bench.json(`/v1/t5/buckets?query_length=16&num_buckets=${n}`)).data[0][1]),
        );
        assert.equal(Number(facts.value.replace('−', '-')), got - wanted);
        await bench.choose(page, 'model', 'bloom-560m');
        assert.match(await bench.address(page), /encoding=alibi/);
    },
    'a configuration is claimed, or it is said why not': async (bench) => {
        const page = await bench.page('#/doctor');
        await page.click('summary:text("Paste a config.json")');
        const paste = async (config) => {
            await page.fill('.config textarea', JSON.stringify(config));
            await page.press('.config textarea', 'Tab');
        };
        await paste({ model_type: 't5', relative_attention_num_buckets: 64, num_heads: 8 });
        assert.match(await bench.address(page), /encoding=t5\/buckets.*num_buckets=64/);
        await paste({ model_type: 'gpt2', n_positions: 1024, n_embd: 768, n_head: 12 });
        assert.match(await bench.text(page, '.part-verdict .error'), /^The encoding of this model is learned/);
    },
    'the columns of rotated vectors are channels': async (bench) => {
        const page = await bench.page('#/doctor?sample=pairing&encoding=rope&pairing=interleaved&head_dim=64');
        const facts = await bench.readout(page, '.difference .readout:not(.scalars)');
        assert.ok('channel' in facts, JSON.stringify(facts));
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
        assert.doesNotMatch(await page.textContent('.drop .note'), /address/);
        const other = await bench.page(await bench.address(page));
        assert.equal(await other.textContent('.report'), text);
        const path = '/v1/sinusoidal?d_model=32&positions=0:50&format=npy';
        await dropped(bench, other, { path, name: 'pe.npy' });
        assert.match(
            await other.textContent('.drop .note'),
            /^pe\.npy: .* The address of this page .* not the file\.$/,
        );
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
        await page.evaluate(() => (location.hash = '#/doctor?encoding=swin/index'));
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
