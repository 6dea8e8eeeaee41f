// main.js - runs the cases of cases/*.js against a server of their own, in Chromium.
import { readdirSync } from 'node:fs';
import { Bench, within } from './bench.js';

// What takes long and checks no more than the others goes without in `core`.
const CORE_LEAVES_OUT = ['readme', 'speed'];

// No case takes so long, on any machine.
const STUCK_MS = 1_800_000;

const wanted = process.argv.slice(2);
const groups = readdirSync(new URL('cases/', import.meta.url))
    .map((file) => file.replace(/\.js$/, ''))
    .filter((group) => {
        if (wanted.length === 0) return true;
        return wanted.includes('core') ? !CORE_LEAVES_OUT.includes(group) : wanted.includes(group);
    });

const bench = await Bench.open();
let passed = 0;
let failed = 0;
for (const group of groups) {
    const { cases } = await import(`./cases/${group}.js`);
    for (const [name, run] of Object.entries(cases)) {
        const began = Date.now();
        try {
            await within(STUCK_MS, 'the end of this case', run(bench));
            bench.check();
            passed++;
            console.log(`ok    ${group}: ${name}  ${((Date.now() - began) / 1000).toFixed(1)} s`);
        } catch (error) {
            failed++;
            console.log(`FAIL  ${group}: ${name}\n${error.stack}`);
        }
        await bench.clear();
    }
}
await bench.close();
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
