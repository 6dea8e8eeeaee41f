// doctor.js - a file that should hold an encoding: is it right, and if not, what is wrong with it?
import { Problem, address, answer, request } from '../parts/api.js';
import { choice, form } from '../parts/controls.js';
import { fresh, h, put } from '../parts/dom.js';
import { brief, digits } from '../parts/number.js';
import { texts } from '../parts/place.js';
import { told } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { parse } from '../parts/safetensors.js';
import { grid } from '../parts/table.js';
import { configBox, models, parametersOf, picker } from './catalogue.js';
import { samples } from './samples.js';
import { blob, held, read, renamed } from './upload.js';

/** @import { Listing, Resource } from '../parts/listing.js' */
/** @import { Tensor } from '../parts/safetensors.js' */
/** @import { Upload } from './upload.js' */

/** @typedef {Record<string, string>} Values */
/** @typedef {import('openapi').components['schemas']['VerifyReport']} Report */

const ROPE = 'rope';
/** The tables that are known by the name of their encoding; the others by their path. @type {Record<string, string>} */
const TABLES = { rope: '/v1/rope/table', sinusoidal: '/v1/sinusoidal', alibi: '/v1/alibi/bias' };
const LEFT_OUT = ['model', 'layer_type', 'dtype'];
const ROLES = ['cos', 'sin', 'inputs', 'rotated'];
/** What the tensors of a file may be called. @type {[RegExp, string][]} */
const GUESSES = [
    [/cos/i, 'cos'],
    [/sin/i, 'sin'],
    [/rot|after|out/i, 'rotated'],
    [/^(q|k|query|key|x)$|input|before/i, 'inputs'],
];
// What is asked for most; the others are under "More".
const FIRST = ['head_dim', 'rope_theta', 'pairing', 'rope_type', 'd_model', 'base', 'layout', 'num_heads', 'variant'];
// What stands for no claim of an encoding.
const BY_FILE = 'by the file';
const PREFIX = 'd';
const SHOWN = ['tensor', 'slice', 'win', 'at'].map((name) => PREFIX + name);

const NOTHING = 'Nothing to judge yet: drop a file, or try one of those above.';
const OWN_FILE = ' The address of this page holds what is claimed, and not the file.';
/** The tables that a file can be compared with, by what the server calls them. @param {Listing} listing
 * @returns {Record<string, Resource>} */
function claims({ encodings }) {
    const named = Object.fromEntries(Object.entries(TABLES).map(([name, path]) => [path, name]));
    const tables = encodings.filter(({ path, methods }) => methods.includes('GET') && !path.includes('{'));
    const all = tables.map((table) => /** @type {const} */ ([named[table.path] ?? table.path.slice(4), table]));
    return Object.fromEntries(all.sort(([a], [b]) => Number(b in TABLES) - Number(a in TABLES)));
}

/** The file under names that the server knows. @param {Upload} upload @returns {Promise<Upload>} */
async function known(upload) {
    const names = [...upload.tensors.keys()];
    if (names.length < 2 || names.some((name) => ROLES.includes(name))) return upload;
    const roles = [...upload.tensors].map(
        ([name, tensor]) => /** @type {const} */ ([GUESSES.find(([sign]) => sign.test(name))?.[1] ?? '', tensor]),
    );
    const first = roles.filter(([role], i) => role !== '' && roles.findIndex(([each]) => each === role) === i);
    return first.length === 0 ? upload : read(upload.name, await renamed(first));
}

/** The numbers that the file should have, by tensor. @param {Upload} upload @param {Report} report @param {string} path of the table @param {AbortSignal} signal
 * @returns {Promise<Map<string, Tensor>>} */
async function expected(upload, report, path, signal) {
    const { cache_layout: _, ...parameters } = report.parameters;
    const inputs = upload.tensors.get('inputs');
    if (inputs !== undefined) {
        const values = texts(parameters);
        const bytes = await renamed([['vectors', inputs]]);
        const body = new Blob([bytes], { type: 'application/vnd.safetensors' });
        const whole = await request(address('/v1/rope/rotate', { ...values, format: 'safetensors' }), { body, signal });
        const [tensor] = parse(await whole.arrayBuffer(), undefined).tensors.values();
        return new Map([['rotated', tensor]]);
    }
    const slopes = report.encoding === 'alibi' && parameters.query_length === undefined;
    const body = report.parameters;
    const { tensors } = await answer(slopes ? '/v1/alibi/slopes' : path, {}, { signal, body });
    if (upload.tensors.size > 1) return tensors;
    // One tensor is meant, whatever it is called.
    const [name] = upload.tensors.keys();
    const [first] = tensors.values();
    return new Map([[name, tensors.get(report.first_bad?.tensor ?? name) ?? first]]);
}

/** @param {Resource} table */
const hasModel = ({ parameters }) => parameters.some(({ name }) => name === 'model');

/** @param {Upload} upload @param {Values} claim @param {AbortSignal} [signal] @returns {Promise<Report>} */
const verify = async (upload, claim, signal) =>
    (await request(address('/v1/verify', claim), { body: blob(upload), signal })).json();

/** What is found of a sample. @param {string} id */
async function judged(id) {
    const { claim, make } = samples[id];
    return verify(read(id, await make()), claim);
}

class Doctor extends Room {
    claims = claims(this.listing);
    /** @private @type {Upload | null} */ file = null;
    /** The table that the file was found to be, where nobody claims one. @private */ found = ROPE;
    sampleOf = '';
    /** The parameters under which the file was judged, as the server read off what nobody said.
     * @private @type {Values} */
    shown = {};
    controls = form((name, value, done) => done && this.set({ encoding: this.#kind, [name]: value }));
    /** What is claimed number by number. @private */
    more = h('details.more', h('summary', 'All parameters of the claim'), this.controls);
    report = h('div.report', { role: 'status' });
    picture = h('div.difference');
    fileName = h('p.note', 'No file yet.');
    encoding = choice('encoding', [BY_FILE, ...Object.keys(this.claims)], (value) =>
        this.set({ encoding: value === BY_FILE ? null : value }),
    );
    /** Encodings whose tables a model decides. @private */
    ofModels = [...new Set(Object.values(this.claims).flatMap((each) => (hasModel(each) ? [each.encoding] : [])))];
    /** A model is claimed, and with it the encoding that it has. */
    model = picker(
        async (name) => {
            const model = (await models()).find((each) => each.name === name);
            const table = this.claims[this.#kind];
            const fits = model === undefined || (model.encoding === table.encoding && hasModel(table));
            this.set({ model: name || null, ...(fits ? {} : { encoding: this.#kindOf(model.encoding) ?? null }) });
        },
        { encodings: this.ofModels },
    );
    /** A configuration's parameters are the claim. */
    config = configBox(({ encoding, parameters }) => {
        const kind = this.#kindOf(encoding);
        if (kind === undefined) {
            const words = `The encoding of this model is ${encoding}: it has no table that a file could be compared with.`;
            return this.#refuse(new Error(words));
        }
        const names = this.#names(kind);
        const own = texts(parameters, (name) => names.includes(name));
        this.renew({ encoding: kind, ...own, sample: this.place.get('sample') || null });
    });
    ask = this.asks((error) => {
        this.controls.fail(error);
        if (error !== null) this.#refuse(error);
    });

    notes = [
        'A table may be right in its first rows and wrong in all others: slow pairs hardly move at first. Compare far positions, too.',
    ];

    layout() {
        const id = fresh('file');
        const input = h('input', { id, type: 'file', accept: '.npy,.safetensors' });
        input.addEventListener('change', () => input.files?.[0] && void this.#open(input.files[0]));
        const tries = Object.entries(samples).map(([sample, { title, claim }]) => {
            const onclick = () => this.renew({ ...claim, sample });
            return h('button', { type: 'button', 'data-sample': sample, onclick }, title);
        });
        const file = h('div.drop', [
            h('label.name', { for: id }, 'A .npy or .safetensors file, chosen or dropped anywhere'),
            h('div.control-row', input),
            this.fileName,
        ]);
        const claim = [this.encoding, this.model, this.config, this.more];
        const seen = [this.fault, this.report, this.picture];
        const halves = this.split(claim, this.section('verdict', 'Verdict', { first: true }, seen));
        halves.querySelector('.stage')?.removeAttribute('aria-busy'); // Who has no file waits for nothing.
        return [h('div.story.samples', file, h('span', 'Or try one:'), tries), halves];
    }

    /** The words of what was refused, where they are seen. @param {unknown} error */
    #refuse(error) {
        this.shown = {};
        this.report.replaceChildren();
        this.picture.replaceChildren();
        this.picture.removeAttribute('aria-busy');
        const words = error instanceof Problem && `The server cannot compare this: ${error.message}.`;
        this.fault.show(words ? new Error(words) : error);
    }

    /** The first table of an encoding that a model has. @param {string} encoding */
    #kindOf(encoding) {
        const of = Object.entries(this.claims).filter(([, table]) => table.encoding === encoding);
        return of.find(([, table]) => hasModel(table))?.[0];
    }

    /** @param {File} file */
    async #open(file) {
        try {
            this.file = await known(read(file.name, await file.arrayBuffer()));
            this.fault.show(null);
        } catch (error) {
            return this.#refuse(error);
        }
        this.found = ROPE;
        this.sampleOf = '';
        this.place.set({ sample: null, ...Object.fromEntries(SHOWN.map((name) => [name, null])) });
        this.update();
    }

    /** The parameters that a claim may have. @param {string} encoding */
    #names(encoding) {
        return this.claims[encoding].parameters.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name));
    }

    /** The table that is claimed; empty: the server reads it off the file. Whoever claims a parameter of RoPE claims RoPE. */
    get #claimed() {
        const encoding = this.place.get('encoding');
        if (encoding in this.claims) return encoding;
        return Object.keys(this.chosen(this.#names(ROPE))).length > 0 ? ROPE : '';
    }

    /** What is claimed, or what the file was found to be. */
    get #kind() {
        return this.#claimed || this.found;
    }

    /** @returns {Values} */
    #values() {
        const [kind, model] = [this.#claimed, hasModel(this.claims[this.#kind]) ? ['model'] : []];
        return this.chosen(kind === '' ? model : [...model, ...this.#names(kind)]);
    }

    /** Show what is claimed, and what the server read off the file. What is claimed is no usual value, so that the usual
     * one is told from it. */
    async #offer() {
        const names = this.#names(this.#kind);
        const rows = this.rows(this.claims[this.#kind].path, names);
        const values = this.#values();
        const told = texts(this.shown, (name) => !(name in values));
        const first = rows.sort((a, b) => Number(FIRST.includes(b.name)) - Number(FIRST.includes(a.name)));
        this.controls.show(first, values, { ...(await parametersOf(values.model)), ...told });
        this.encoding.show(this.place.get('encoding', BY_FILE));
        this.model.show(this.place.get('model'));
        if (Object.keys(values).some((name) => name !== 'model')) this.more.open = true;
    }

    load() {
        void this.#follow().catch((error) => this.#refuse(error));
    }

    async #follow() {
        const name = this.place.get('sample');
        const sample = Object.hasOwn(samples, name) ? samples[name] : null;
        if (sample !== null && name !== this.sampleOf) {
            this.sampleOf = name;
            this.file = read(sample.title, await sample.make());
        }
        await this.#offer();
        const { file } = this;
        if (file === null) return this.report.replaceChildren(h('p.note', NOTHING));
        const list = [...file.tensors].map(([name, { shape, dtype }]) => `${name} [${shape.join(', ')}] ${dtype}`);
        this.fileName.textContent = `${file.name}: ${list.join('; ')}.${sample ? '' : OWN_FILE}`;
        this.picture.setAttribute('aria-busy', 'true');
        await this.ask.ask(
            [file.name, file.bytes.byteLength, this.#claimed, this.#values()],
            (signal) => this.#examine(file, signal),
            (found) => this.#show(found),
        );
        await this.#offer();
        this.picture.removeAttribute('aria-busy');
        this.figure?.update();
    }

    /** @param {Upload} file @param {AbortSignal} signal */
    async #examine(file, signal) {
        const claimed = this.#claimed;
        const report = await verify(file, { ...(claimed && { encoding: claimed }), ...this.#values() }, signal);
        const path = `/v1/${report.readings?.[0].encoding}`;
        const read = Object.keys(this.claims).find((kind) => this.claims[kind].path === path);
        const kind = claimed || (read ?? this.#kindOf(report.encoding) ?? ROPE);
        /** What the file has less what it should have. @type {Map<string, Tensor>} */
        const tensors = new Map();
        try {
            const right = await expected(file, report, this.claims[kind].path, signal);
            for (const [name, tensor] of file.tensors) {
                const other = right.get(name);
                if (other === undefined || other.length !== tensor.length) continue;
                const [got, wanted] = [await tensor.all(signal), await other.all(signal)];
                const less = Float64Array.from(got, (value, i) => (value === wanted[i] ? 0 : value - wanted[i]));
                tensors.set(name, held(name, tensor.shape, less));
            }
            return { kind, report, tensors, words: '' };
        } catch (error) {
            if (!(error instanceof Problem)) throw error;
            return { kind, report, tensors, words: `The right numbers cannot be drawn: ${error.message}.` };
        }
    }

    /** @param {{kind: string, report: Report, tensors: Map<string, Tensor>, words: string}} found */
    #show({ kind, report, tensors, words }) {
        this.found = kind;
        this.shown = texts(report.parameters);
        this.fault.show(null);
        put(this.report, verdict(report), words !== '' && h('p.note', words));
        this.figure?.stop();
        this.figure = null;
        this.picture.replaceChildren();
        if (tensors.size === 0 || report.matches) return;
        const { tensor: wrong = '', index } = report.first_bad ?? {};
        const [first] = tensors.values();
        // The cursor is at the first wrong place, where the address has none.
        if (index !== undefined && this.place.get(`${PREFIX}at`) === '') {
            const tensor = tensors.get(wrong) ?? first;
            const leading = index.slice(0, -2).reduce((at, i, axis) => at * tensor.shape[axis] + i, 0);
            this.place.set({
                [`${PREFIX}tensor`]: tensor === first ? null : tensor.name,
                [`${PREFIX}slice`]: leading === 0 ? null : leading,
                [`${PREFIX}at`]: index.slice(-2).join(','),
            });
        }
        const title = 'the file less the right numbers';
        const drawn = { tensors, parameters: report.parameters, scalars: {} };
        this.draw(this.picture, drawn, { path: '', values: {}, title, prefix: PREFIX });
    }

    /** @param {File} file */
    take(file) {
        if (!this.config?.take(file)) void this.#open(file);
        return true;
    }
}

/** @param {number | null | undefined} value */
const plain = (value) => (value === null || value === undefined ? 'not finite' : digits(Number(value.toPrecision(6))));

/** A report in words. @param {Report} report */
function verdict(report) {
    const { matches, conclusion, error, first_bad: bad, diagnosis, elements, bands = [] } = report;
    const { warnings = [], inferred = [], encoding } = report;
    /** @type {import('../parts/readout.js').Fact[]} */
    const facts = [['compared', `${brief(elements)} numbers`]];
    if (error) facts.push(['largest error', plain(error.max_abs)]);
    if (error?.max_phase !== undefined) facts.push(['largest angle', `${plain(error.max_phase)} rad`]);
    if (bad) {
        const { tensor, position, pair, index = [] } = bad;
        const where = [position !== undefined && `position ${brief(position)}`, pair !== undefined && `pair ${pair}`];
        const place = [tensor, ...where, `index ${index.join(', ')}`];
        facts.push(['first wrong place', place.filter(Boolean).join(', ')]);
        facts.push(['it has', plain(bad.got)], ['it should have', plain(bad.expected)]);
    }
    /** Evidence and remedy, where the server has them. @param {{remedy?: unknown, evidence?: unknown}} finding */
    const more = ({ evidence, remedy }) =>
        [evidence, remedy].map((words) => typeof words === 'string' && h('p.note', words));
    const found = [
        h('h3', 'What explains all of its numbers'),
        h('ol.diagnosis', [diagnosis.map((each) => h('li', String(each.rule), more(each)))]),
    ];
    const widest = bands.map(({ pairs, rows = [], max_abs, max_phase }) =>
        h('tr', [
            h('th', { scope: 'row' }, (pairs ? 'pairs ' : 'rows ') + (pairs ?? rows).join(' to ')),
            [plain(max_abs), max_phase === undefined ? '' : plain(max_phase)].map((cell) => h('td', cell)),
        ]),
    );
    return [
        h('p', { class: matches ? 'finding good' : 'finding' }, [
            `${matches ? 'It is what it claims to be' : 'It is not what it claims to be'}: ${conclusion}.`,
        ]),
        ...warnings.map((words) => h('p.warning', words)),
        h('p.note.read-off', [
            `Judged as ${encoding}.`,
            inferred.length > 0 && ` Read off the file: ${inferred.join('; ')}.`,
        ]),
        h('dl.readout.scalars', told(facts)),
        ...(diagnosis.length === 0 ? [] : found),
        h('details.table', { hidden: bands.length === 0 }, [
            h('summary', 'Errors by band'),
            grid({}, '', ['band', 'largest error', 'largest angle, rad'], widest),
        ]),
    ];
}

const BASE = { sample: 'base', encoding: 'rope', head_dim: '128' };

export const show = opened(Doctor, {
    title: 'Check a table',
    words: [
        'Drop a file of cosines and sines, of rotated vectors or of biases, and say which model it should belong to.',
        'The server compares every number with the exact one, and names the mistake under which all of them fit.',
        'The picture is what the file has less what it should have; the cursor marks the first wrong place.',
    ],
    papers: ['rope/table'],
    phrases: [
        ['A table of another base names the base it was made with', { ...BASE, rope_theta: '500000' }],
        ['claim that base, and the same file is right', { ...BASE, rope_theta: '10000' }],
    ],
    asked: [
        {
            question: '“cos and sin with another base”: which base was it made with?',
            answer: async () => Number((await judged('base')).diagnosis[0]?.parameters?.rope_theta),
        },
        {
            question: '“Llama 3.1 without its scaling”: which pair is the first that is wrong?',
            answer: async () => Number((await judged('scaling')).first_bad?.pair),
        },
    ],
});
