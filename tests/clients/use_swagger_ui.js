// use_swagger_ui.js - ten operations, executed from the forms of Swagger UI as it fills them in, in Chromium.
//
//     node use_swagger_ui.js ADDRESS
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
import { absolutePath } from 'swagger-ui-dist';

const OPERATIONS = [
    'sinusoidal-sinusoidal',
    'rope-rope_table',
    'rope-rope_frequencies',
    'rope-rope_rotate',
    'rope-rope_compare',
    'alibi-alibi_bias',
    't5-t5_buckets',
    'attention-attention',
    'models-resolve_model',
    'verify-verify',
];
const STUCK_MS = 300_000;

const address = process.argv[2];
const initializer = `window.ui = SwaggerUIBundle({url: '${address}/openapi.json', dom_id: '#swagger-ui',
    presets: [SwaggerUIBundle.presets.apis], docExpansion: 'none', validatorUrl: null});`;
const types = { css: 'text/css', html: 'text/html', js: 'text/javascript' };

/** The files of the package, with our document instead of its example. */
async function answer(request, response) {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    try {
        const content =
            name === 'swagger-initializer.js' ? initializer : await readFile(`${absolutePath()}/${name}`);
        response.writeHead(200, { 'Content-Type': types[name.split('.').pop()] ?? 'application/octet-stream' });
        response.end(content);
    } catch {
        response.writeHead(404).end();
    }
}

/** The status that the form shows after it was executed, with nothing filled in by hand. */
async function execute(page, operation) {
    const form = page.locator(`#operations-${operation}`);
    await form.locator('.opblock-summary-control').click();
    await form.locator('.try-out__btn').click();
    await form.locator('button.execute').click();
    const status = await form.locator('.live-responses-table .response-col_status').last().textContent();
    const text = await form.locator('.live-responses-table').textContent();
    await form.locator('.opblock-summary-control').click();
    return { status: status.trim(), text };
}

const site = createServer(answer);
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
});
let failed = 0;
try {
    const page = await browser.newPage();
    page.setDefaultTimeout(STUCK_MS);
    await page.goto(`http://127.0.0.1:${site.address().port}/`);
    for (const tag of new Set(OPERATIONS.map((operation) => operation.split('-')[0])))
        await page.locator(`#operations-tag-${tag}`).click();
    for (const operation of OPERATIONS) {
        const { status, text } = await execute(page, operation);
        const good = status.startsWith('200');
        failed += !good;
        console.log(`${good ? 'ok   ' : 'FAIL '} ${operation} ${good ? status : text}`);
    }
} finally {
    await browser.close();
    site.close();
}
process.exitCode = failed === 0 ? 0 : 1;
