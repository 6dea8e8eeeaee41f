// assets.js - the files of the page: their weight, their lifetime, and that they come from here.
import assert from 'node:assert/strict';

const HTML = { Accept: 'text/html' };
const WEIGHT_MAX = 120 * 1024;

/** Every file that any room may load, by the page and by what its modules import. */
async function files(url) {
    const page = await (await fetch(`${url}/`, { headers: HTML })).text();
    const found = new Set([...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path));
    for (const path of found) {
        if (!path.endsWith('.js')) continue;
        const text = await (await fetch(url + path)).text();
        for (const [, to] of text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g))
            found.add(new URL(to, url + path).pathname);
    }
    return ['/', ...found];
}

/** Bytes on the wire: fetch() would decode. */
async function weigh(url, path, coding) {
    const { request } = await import('node:http');
    return new Promise((resolve, reject) => {
        request(url + path, { headers: { ...HTML, 'Accept-Encoding': coding } }, (response) => {
            let bytes = 0;
            response.on('data', (part) => (bytes += part.length));
            response.on('end', () => resolve({ bytes, status: response.statusCode, headers: response.headers }));
        })
            .on('error', reject)
            .end();
    });
}

/** Bytes of all files of the page in a coding. @param {string} url @param {string} coding */
export async function weight(url, coding) {
    let total = 0;
    for (const path of await files(url)) {
        const { bytes, status, headers } = await weigh(url, path, coding);
        assert.equal(status, 200, path);
        assert.equal(headers['content-encoding'], coding, path);
        total += bytes;
    }
    return total;
}

export const cases = {
    'the whole page weighs at most 120 KB in either coding': async (bench) => {
        for (const coding of ['gzip', 'zstd']) {
            const total = await weight(bench.server.url, coding);
            console.log(`      ${coding}: ${(total / 1024).toFixed(1)} KB`);
            assert.ok(total <= WEIGHT_MAX, `${coding}: ${total} bytes`);
        }
    },
    'the policy lets nothing in from elsewhere': async (bench) => {
        const { headers } = await weigh(bench.server.url, '/', 'identity');
        const policy = headers['content-security-policy'];
        assert.match(policy, /default-src 'self'/);
        assert.doesNotMatch(policy, /unsafe|https?:|\*;/);
        assert.equal(headers['referrer-policy'], 'no-referrer');
        assert.equal(headers['x-content-type-options'], 'nosniff');
    },
    'everything is asked for once': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        await page.waitForTimeout(4000); // Browsers tell on the console of what was preloaded and not used.
        const names = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.name));
        assert.deepEqual(
            names.filter((name, i) => names.indexOf(name) !== i),
            [],
        );
        assert.ok(names.some((name) => name.endsWith('/v1')));
    },
    'a second visit takes every file from the cache': async (bench) => {
        const page = await bench.page('#/any/sinusoidal?d_model=64');
        await page.goto(`${bench.server.url}/#/any/rope/table?head_dim=64`);
        await page.reload();
        await bench.settled(page);
        const network = await page.evaluate(() =>
            performance
                .getEntriesByType('resource')
                .filter((entry) => entry.name.includes('/assets/') && entry.transferSize > 0)
                .map((entry) => entry.name),
        );
        assert.deepEqual(network, []);
    },
};
