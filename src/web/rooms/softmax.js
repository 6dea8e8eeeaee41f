// softmax.js - a share of attention as a formula with its numbers in it. The scores are the server's.
import { posted } from '../parts/api.js';
import { equation, fraction, power, row } from '../parts/formula.js';
import { brief, digits } from '../parts/number.js';

const TERMS_MAX = 3;
const DIGITS = 5;

/** Vectors with the sinusoids of their places. @param {number[][]} embeddings @param {AbortSignal} signal */
async function added(embeddings, signal) {
    const sum = Array.from(await posted('/v1/sinusoidal/add', { embeddings }, signal));
    const width = embeddings[0].length;
    return embeddings.map((_, i) => sum.slice(i * width, (i + 1) * width));
}

/** q · k of all queries and keys, row by row. What is not turned by its place stands at position 0.
 * @param {{q: number[][], k: number[][], scheme: string}} what @param {AbortSignal} signal */
export async function scores({ q, k, scheme }, signal) {
    const both = scheme === 'sinusoidal' ? await Promise.all([added(q, signal), added(k, signal)]) : [q, k];
    const still = q.map(() => 0);
    const positions = scheme === 'rope' ? {} : { query_positions: still, key_positions: still };
    return posted('/v1/rope/scores', { q: both[0], k: both[1], ...positions }, signal);
}

/** @param {ArrayLike<number>} seen the scores of the query, of as many keys as it sees
 * @param {{query: number, key: number, width: number, slope: number, value: number}} what slope: 0 without ALiBi */
export function shareFormula(seen, { query, key, width, slope, value }) {
    if (key >= seen.length) return 'a later word is not seen';
    const term = /** @param {number} at */ (at) => {
        const bias = slope === 0 ? [] : ['−', slope, '·', Math.abs(query - at)];
        return power('e', row(brief(seen[at], DIGITS), '/', Math.sqrt(width), ...bias));
    };
    const terms = Array.from(seen, (_, at) => term(at));
    const few = terms.length <= TERMS_MAX ? terms : [terms[0], '…', terms[terms.length - 1]];
    /** @type {import('../parts/formula.js').Part[]} */
    const sum = few.flatMap((each, i) => (i === 0 ? [each] : ['+', each]));
    return equation([fraction(term(key), row(...sum))], digits(value, 'float32'));
}
