// samples.js - files with well-known mistakes, made of the server's own numbers, to try the doctor on.
import { address, arrays, posted, request } from '../parts/api.js';
import { held, renamed } from './upload.js';

const ROWS = 32;
const WIDTH = 64;

/** @template {keyof import('openapi').paths} P @param {P} path @param {import('../parts/api.js').Asked<P>} values */
const file = async (path, values) => (await request(address(path, { ...values, format: 'safetensors' }))).arrayBuffer();

/** Vectors, and the same rotated with a pairing. @param {'half' | 'interleaved'} pairing */
async function rotated(pairing) {
    const positions = `1000:${1000 + ROWS}`;
    const { data } = await arrays('/v1/sinusoidal', { d_model: String(WIDTH), positions, dtype: 'float64' });
    const flat = /** @type {Float64Array} */ (data);
    const vectors = Array.from({ length: ROWS }, (_, row) => Array.from(flat.slice(row * WIDTH, (row + 1) * WIDTH)));
    const turned = await posted('/v1/rope/rotate', { vectors, pairing, dtype: 'float64' });
    const shape = [ROWS, WIDTH];
    return renamed([
        ['inputs', held('inputs', shape, flat)],
        ['rotated', held('rotated', shape, /** @type {Float64Array} */ (turned))],
    ]);
}

/** What stands on its button, what the visitor claims, and what the file is.
 * @type {Record<string, {title: string, claim: Record<string, string>, make: () => Promise<ArrayBuffer>}>} */
export const samples = {
    base: {
        title: 'cos and sin with another base',
        claim: { encoding: 'rope', head_dim: '128', rope_theta: '500000' },
        make: () => file('/v1/rope/table', { head_dim: '128', positions: '0:128' }),
    },
    scaling: {
        title: 'Llama 3.1 without its scaling',
        claim: { encoding: 'rope', model: 'llama-3.1-8b' },
        make: () => file('/v1/rope/table', { head_dim: '128', rope_theta: '500000', positions: '0:128' }),
    },
    pairing: {
        title: 'q rotated with the other pairing',
        claim: { encoding: 'rope', head_dim: String(WIDTH), pairing: 'interleaved' },
        make: () => rotated('half'),
    },
    slopes: {
        title: 'ALiBi slopes of 12 heads',
        claim: { encoding: 'alibi', num_heads: '12' },
        make: () => file('/v1/alibi/slopes', { num_heads: '12', variant: 'formula' }),
    },
    right: {
        title: 'a sinusoidal table that is right',
        claim: { encoding: 'sinusoidal', d_model: String(WIDTH) },
        make: () => file('/v1/sinusoidal', { d_model: String(WIDTH), positions: '0:128' }),
    },
};
