// use.ts - ten operations through the types that openapi-typescript makes: use.js ADDRESS
import createClient from 'openapi-fetch';
import type { paths } from './openapi';

declare const process: { argv: string[] };
// Answers may be in many formats; these are those that are asked for where nothing is said.
type Json = `application/${string}json`;
const { GET, POST } = createClient<paths, Json>({ baseUrl: process.argv[2] });

function want(held: boolean | undefined, words: string) {
    if (!held) throw new Error(words);
}

const table = (await GET('/v1/rope/table', { params: { query: { head_dim: 8, positions: '0:2' } } })).data;
want(table?.cos?.shape.join() === '2,4' && table?.attention_factor === 1, 'a table');
const same = (await POST('/v1/rope/table', { body: { head_dim: 8, positions: '0:2' } })).data;
want(JSON.stringify(same) === JSON.stringify(table), 'the same table by POST');
const one = (await GET('/v1/sinusoidal', { params: { query: { d_model: 4, positions: '0:3' } } })).data;
// Nested arrays of as many axes as the shape has, or text in base64: who asks knows which.
const rows = one?.data as number[][];
want(one?.shape.join() === '3,4' && rows[0]?.join() === '0,1,0,1', 'one tensor');
const rotated = (await POST('/v1/rope/rotate', { body: { vectors: [[1, 0]], positions: [0] } })).data;
want(JSON.stringify(rotated?.data) === '[[1,0]]', 'a transform');
const slopes = (await GET('/v1/alibi/slopes', { params: { query: { num_heads: 8 } } })).data;
want(slopes?.encoding === 'alibi', 'slopes');
const config = { model_type: 'llama', hidden_size: 2048, num_attention_heads: 32 };
const resolved = (await POST('/v1/models/resolve', { body: config })).data;
want(resolved?.encoding === 'rope', 'a configuration');
const claim = { encoding: 'sinusoidal', parameters: { d_model: 2, positions: '0:1' }, table: [[0, 1]] };
const report = (await POST('/v1/verify', { body: claim })).data;
want(report?.matches, 'a check');
const refused = await GET('/v1/rope/table', { params: { query: { head_dim: 8, rotary_dim: 7 } } });
want(refused.response.status === 422 && refused.error?.code === 'invalid-parameter', 'a refusal');
const raw = { params: { query: { d_model: 4, positions: '0:2', format: 'raw' } }, parseAs: 'arrayBuffer' } as const;
want((await GET('/v1/sinusoidal', raw)).data?.byteLength === 32, 'bytes');
want((await GET('/version')).data?.version !== '', 'the version');
