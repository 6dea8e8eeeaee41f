// assets.js - the files of the page: their weight, their lifetime, and that they come from here.
import assert from 'node:assert/strict';

const HTML = { Accept: 'text/html' };
const WEIGHT_MAX = 120 * 1024;

/** Every file that any room may load: those that the page names, and a module for each room. */
async function files(bench) {
    const page = await (await fetch(`${bench.server.url}/`, { headers: HTML })).text();
    const named = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    const opening = named.find((path) => path.endsWith('/rooms/opening.js'));
    const rooms = (await bench.rooms()).map((room) => opening.replace('opening', room));
    return ['/', ...named, ...rooms];
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

/** Bytes of all files of the page in a coding. */
export async function weight(bench, coding) {
    let total = 0;
    for (const path of await files(bench)) {
        const { bytes, status, headers } = await weigh(bench.server.url, path, coding);
        assert.equal(status, 200, path);
        assert.equal(headers['content-encoding'], coding, path);
        total += bytes;
    }
    return total;
}

export const cases = {
    'the whole page weighs at most 120 KB in either coding': async (bench) => {
        for (const coding of ['gzip', 'zstd']) {
            const total = await weight(bench, coding);
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
        const modules = names.filter((name) => name.endsWith('.js')).map((name) => name.split('/').pop());
        assert.deepEqual(modules.sort(), ['any.js', 'main.js', 'opening.js'], 'a room comes with one module');
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
