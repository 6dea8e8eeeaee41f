// samples.js - files with well-known mistakes, made of the server's own numbers, to try the doctor on.
import { address, arrays, posted, request } from '../parts/api.js';
import { held, renamed } from './upload.js';

/** @typedef {{id: string, title: string, encoding: string, claim: Record<string, string>, make: () => Promise<ArrayBuffer>}} Sample */

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
    return renamed([
        ['inputs', held('inputs', [ROWS, WIDTH], flat)],
        ['rotated', held('rotated', [ROWS, WIDTH], /** @type {Float64Array} */ (turned))],
    ]);
}

/** What stands on its button, and what the visitor claims. @type {Record<string, [title: string, encoding: string, claim: Record<string, string>]>} */
const CLAIMS = {
    base: ['cos and sin with another base', 'rope', { head_dim: '128', rope_theta: '500000' }],
    scaling: ['Llama 3.1 without its scaling', 'rope', { model: 'llama-3.1-8b' }],
    pairing: ['q rotated with the other pairing', 'rope', { head_dim: String(WIDTH), pairing: 'interleaved' }],
    slopes: ['ALiBi slopes of 12 heads', 'alibi', { num_heads: '12' }],
    right: ['a sinusoidal table that is right', 'sinusoidal', { d_model: String(WIDTH) }],
};

/** What the file is. @type {Record<string, () => Promise<ArrayBuffer>>} */
const FILES = {
    base: () => file('/v1/rope/table', { head_dim: '128', positions: '0:128' }),
    scaling: () => file('/v1/rope/table', { head_dim: '128', rope_theta: '500000', positions: '0:128' }),
    pairing: () => rotated('half'),
    slopes: () => file('/v1/alibi/slopes', { num_heads: '12', variant: 'formula' }),
    right: () => file('/v1/sinusoidal', { d_model: String(WIDTH), positions: '0:128' }),
};

/** @type {Sample[]} */
export const samples = Object.entries(CLAIMS).map(([id, [title, encoding, claim]]) => ({
    id,
    title,
    encoding,
    claim,
    make: FILES[id],
}));
