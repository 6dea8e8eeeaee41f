// use_fetch.ts - operations through the client that openapi-generator makes with typescript-fetch: use_fetch.js ADDRESS
import { AlibiApi, Configuration, ResponseError, RopeApi, SinusoidalApi, VerifyApi } from './index';

declare const process: { argv: string[] };
const configuration = new Configuration({ basePath: process.argv[2] });

function want(held: boolean | undefined, words: string) {
    if (!held) throw new Error(words);
}

async function main() {
    const table = await new RopeApi(configuration).ropeTable({ headDim: 8, positions: '0:2' });
    want(table?.cos?.shape.join() === '2,4', 'a table');
    const one = await new SinusoidalApi(configuration).sinusoidal({ dModel: 4, positions: '0:3' });
    want(one?.shape.join() === '3,4' && JSON.stringify(one.data).startsWith('[[0,1,0,1],'), 'one tensor');
    const turn = { vectors: [[1, 0]], positions: [0] };
    const rotated = await new RopeApi(configuration).ropeRotate({ ropeRotateBody: turn });
    want(JSON.stringify(rotated.data) === '[[1,0]]', 'a transform');
    const slopes = await new AlibiApi(configuration).alibiSlopes({ numHeads: 8 });
    want(slopes?.encoding === 'alibi', 'slopes');
    const claim = { encoding: 'sinusoidal', parameters: { d_model: 2, positions: '0:1' }, table: [[0, 1]] };
    const report = await new VerifyApi(configuration).verify({ verifyBody: claim });
    want(report.matches, 'a check');
    const refused = await new RopeApi(configuration).ropeTable({ headDim: 8, rotaryDim: 7 }).catch((reason) => reason);
    want(refused instanceof ResponseError && refused.response.status === 422, 'a refusal');
}

void main();
