// reach.js - what scaling does to the angles of each pair, and which of them training has never seen.
import { address, arrays, json, listed, tensors } from '../parts/api.js';
import { choice, control, fields, form } from '../parts/controls.js';
import { h, put, svg } from '../parts/dom.js';
import { equation, power, row } from '../parts/formula.js';
import { brief, digits } from '../parts/number.js';
import { texts } from '../parts/place.js';
import { Readout, valueFacts } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { later } from '../parts/story.js';
import { grid, scrolled } from '../parts/table.js';
import { block, plain } from '../parts/take.js';
import { configBox, picker } from './catalogue.js';
import { Drift } from './drift.js';
import { Handles } from './handles.js';

/** @typedef {Record<string, string>} Values */
/** @import { Numbers } from '../parts/safetensors.js' */
/** @typedef {{name: string, frequency: Numbers, wavelength: Numbers, stretch: Numbers, turns?: Numbers}} Kind */
/** @typedef {Record<string, Record<string, {value: unknown, note?: string}>>} Settings by type and engine */

const PATH = '/v1/rope/compare';
/** @type {Values} */
const DEFAULTS = { head_dim: '128', rope_theta: '10000', max_position_embeddings: '4096', target_length: '32768' };
const TYPES = ['default', 'linear', 'ntk', 'yarn'];
const NAIVE = 'naive';
// The configuration of the model that was chosen, as it is.
const PUBLISHED = 'published';
const SCALED = ['base', 'attention_factor'];
const WAVES = ['longest wavelength', 'base', 'attention factor'];
/** @type {Record<string, string>} */
const UNSEEN = {
    slow_pairs: 'pairs that trained on less than a turn',
    unseen_pairs: 'pairs with unseen angles',
    largest_angle: 'largest angle, trained = 1',
};
const PAIR = /** @type {const} */ (['wavelength', 'stretch', 'turns']);
const LENGTHS = ['max_position_embeddings', 'target_length'];
const FIRST = ['head_dim', 'rope_theta', ...LENGTHS];
const APART = ['model', 'layer_type', 'rope_types', 'factor', 'dtype', 'numerics'];

const SCALED_BASE = { rope_theta: '10000', head_dim: '128', factor: '8', dtype: /** @type {const} */ ('float64') };
const ROUNDED = 'float32 shows below how far the arithmetic of PyTorch turns the angles of a type.';
const LEAD =
    'Drag the two lengths. A pair whose wave is above the training length has not trained on all of its angles.';
/** The values of a comparison that a model's parameters say; the publisher's own setting for a longer context comes
 * first. @param {Record<string, any>} facts @param {string[]} names */
function valuesOf({ long_context: advice = {}, ...facts }, names) {
    const { original_max_position_embeddings: original, max_position_embeddings: most = 4096 } = facts;
    const trained = Number(advice.rope_scaling?.original_max_position_embeddings ?? original ?? most);
    const whole = Number(advice.max_position_embeddings ?? most);
    /** @type {Values} */
    const values = {
        ...DEFAULTS,
        max_position_embeddings: String(trained),
        target_length: String(whole > trained ? whole : 4 * trained),
        ...texts(facts, (name) => names.includes(name) && !LENGTHS.includes(name) && facts[name] !== undefined),
    };
    if (values.rotary_dim === values.head_dim) delete values.rotary_dim;
    delete values.partial_rotary_factor;
    return values;
}

/** @param {Values} base @param {AbortSignal} signal @returns {Promise<Kind>} */
async function naive(base, signal) {
    const asked = { ...base, dtype: /** @type {const} */ ('float64'), method: /** @type {const} */ ('linear') };
    const found = await arrays('/v1/rope/scaled-base', asked, signal);
    const { scaled_inv_freq: frequency, scaled_wavelength: wavelength, stretch } = found;
    return { name: 'naive: base · s', frequency, wavelength, stretch };
}

/** A row of numbers for each type. @param {string} caption @param {Kind[]} kinds @param {readonly string[]} heads
 * @param {(kind: Kind, i: number) => (number | undefined)[]} numbersOf */
function sideBySide(caption, kinds, heads, numbersOf) {
    const rows = kinds.map((kind, i) =>
        h('tr', [
            h('th', { scope: 'row', class: `series-${i % 8}` }, kind.name),
            numbersOf(kind, i).map((each) => h('td', each === undefined ? '–' : digits(each))),
        ]),
    );
    return grid({ class: 'types-table' }, caption, ['type', ...heads], rows);
}

/** What the naive base and NTK's stretch, in words. */
async function stretches() {
    const [naive, ntk] = await Promise.all(
        /** @type {const} */ (['linear', 'ntk']).map(async (method) => {
            const { stretch } = await arrays('/v1/rope/scaled-base', { ...SCALED_BASE, method });
            return stretch;
        }),
    );
    const at = /** @param {number} pair */ (pair) =>
        `at pair ${pair} by ${brief(naive[pair], 6)} and ${brief(ntk[pair], 6)}`;
    return `${at(1)}, ${at(ntk.length - 1)}`;
}

/** The settings of a type as text to be copied. @param {Record<string, {value: unknown, note?: string}>} settings */
const blocks = (settings) =>
    Object.entries(settings).map(([engine, { value, note: words }]) => {
        if (value === null) return h('p.note', h('code', engine), `: ${words ?? ''}`);
        const text = typeof value === 'string' ? value : JSON.stringify(value, null, 4);
        const whole = engine === 'posenc' ? location.origin + text : text;
        return block(engine, whole, ...(words ? [h('p.note', words)] : []));
    });

class Reach extends Room {
    usual = { numerics: 'exact' };
    all = this.rows(PATH)
        .filter(({ name }) => !APART.includes(name))
        .sort((a, b) => Number(FIRST.includes(b.name)) - Number(FIRST.includes(a.name)));
    names = this.all.map(({ name }) => name);
    choices = this.rows(PATH, ['rope_types'])[0]?.choices ?? [];
    controls = form((name, value, done) => this.set({ [name]: value }, done));
    model = picker((name) => this.renew({ model: name || null, types: null, pair: null }, this.names), {
        encodings: ['rope'],
    });
    /** A configuration's parameters become the room's. */
    config = configBox(({ encoding, parameters }) => {
        if (encoding !== 'rope') return;
        const type = String(/** @type {Record<string, unknown>} */ (parameters).rope_type ?? 'default');
        const types = TYPES.includes(type) || !this.choices.includes(type) ? null : [...TYPES, type].join(',');
        const all = valuesOf(parameters, this.names);
        const own = texts(all, (name) => all[name] !== DEFAULTS[name]);
        this.renew({ model: null, types, ...own }, this.names);
    });
    types = control(
        { ...fields([['types', 'choices', 'naive is the base times s.']])[0], choices: [...this.choices, NAIVE] },
        (types) => this.set({ types: types || 'default' }),
    );
    /** The parameters of a model, and what its publisher says of longer contexts.
     * @private @type {Record<string, any>} */
    facts = {};
    /** @private */ factsOf = '';
    /** @private @type {Awaited<ReturnType<Reach['read']>> | null} */ found = null;
    waves = this.#curve({
        name: 'Wavelength of each pair, in positions',
        yName: 'wavelength in positions',
        height: 400,
        // The axis has moved, and the handles move with it.
        under: () => (this.handles.place(), []),
    });
    stretch = this.#curve({ name: 'Stretch of each pair', yName: 'stretch' });
    turns = this.#curve({
        name: 'Turns of each pair within the target length',
        yName: 'turns at the target',
        under: (one) => this.#zone(one),
    });
    handles = new Handles(this.waves, ['trained', 'target'], (i, value, done) => {
        const least = i === 0 ? 1 : this.#length(LENGTHS[0]);
        const longer = i === 0 && value > this.#length(LENGTHS[1]) ? { [LENGTHS[1]]: value } : {};
        this.set({ [LENGTHS[i]]: Math.max(least, value), ...longer }, done);
    });
    table = scrolled('Types side by side');
    settings = h('div.settings');
    remarks = h('p.note');
    readout = new Readout();
    drift = this.own(new Drift(this));
    /** Which type the errors and the settings are of: a choice at each. @private */
    ofType = { names: '', places: [h('div'), h('div')], shown: /** @type {ReturnType<typeof choice>[]} */ ([]) };
    ask = this.asks(this.controls.fail);

    /** @param {import('../parts/curve.js').Options} options */
    #curve(options) {
        const onCursor = /** @param {number} pair @param {boolean} done */ (pair, done) => this.#point(pair, done);
        return this.plot({ xName: 'pair', yLog: true, height: 320, onCursor, ...options });
    }

    notes = [
        [
            'Some texts multiply the base by s and call it NTK. The naive base b · s stretches less than NTK’s at every pair but the first: for b = 10000, d = 128, s = 8, ',
            later(stretches()),
            '.',
        ],
    ];

    layout() {
        const along = /** @param {string} name */ (name) => () => plain(PATH, this.#asked(), name);
        const { element: numerics } = this.control(['numerics', ['exact', 'float32'], ROUNDED]);
        const waves = { lead: LEAD, first: true, source: along('wavelength') };
        this.table.classList.add('types');
        return [
            this.split(
                [this.model, this.config, this.types, numerics, this.controls],
                this.section('waves', 'Wavelengths, and two lengths of text', waves, this.waves),
                h('div.pair-of-pictures', [
                    this.section('turns', 'Largest angle, in turns', { source: along('turns') }, this.turns),
                    this.section('stretch', 'Stretch', { source: along('stretch') }, this.stretch),
                ]),
                this.table,
                this.readout,
                this.remarks,
                this.drift.part('', this.ofType.places[0]),
                this.section('settings', 'Settings for engines', {}, this.ofType.places[1], this.settings),
            ),
        ];
    }

    /** @param {string} name */
    #length(name) {
        return Number(this.#values()[name]);
    }

    /** What the model says, or the room. */
    #usual() {
        return this.place.get('model') === '' ? DEFAULTS : valuesOf(this.facts, this.names);
    }

    /** What the address says, and what is usual. @returns {Values} */
    #values() {
        const values = { ...this.#usual(), ...this.chosen(this.names) };
        // The longer length follows where only the other one was set.
        if (Number(values.target_length) < Number(values.max_position_embeddings))
            values.target_length = values.max_position_embeddings;
        return values;
    }

    #chosen() {
        const own = String(this.facts.rope_type ?? 'default');
        const named = this.place.get('model') !== '';
        const more = this.choices.includes(own) && !TYPES.includes(own) ? [own] : [];
        const usual = named ? [PUBLISHED, ...TYPES, ...more] : TYPES;
        const types = this.place.get('types', usual.join(',')).split(',');
        return named ? types : types.filter((each) => each !== PUBLISHED);
    }

    async load() {
        const model = this.place.get('model');
        if (model === '') this.facts = {};
        else if (model !== this.factsOf) {
            const { long_context, resolved } = await json(`/v1/models/${encodeURIComponent(model)}`);
            this.facts = { ...resolved.parameters, long_context };
        }
        this.factsOf = model;
        const values = this.#values();
        const types = this.#chosen();
        this.model.show(model);
        this.types.show(types.join(','));
        this.controls.show(this.all, values, this.#usual());
        this.handles.show(LENGTHS.map((name) => Number(values[name])));
        await this.ask.ask(
            [values, types, model],
            (signal) => this.read(types, signal),
            (found) => {
                this.found = found;
                const { kinds, trained } = found;
                const all = kinds.flatMap(({ wavelength }) => Array.from(wavelength)).filter(Number.isFinite);
                this.waves.options.yRange = [Math.min(...all) / 1.3, Math.max(...all, this.#length(LENGTHS[1])) * 1.5];
                this.waves.show(kinds.map(({ name, wavelength: y }) => ({ name, y })));
                this.stretch.show(kinds.map(({ name, stretch: y }) => ({ name, y })));
                this.turns.show(kinds.flatMap(({ name, turns: y }) => (y ? [{ name, y }] : [])));
                const turns = kinds.flatMap((kind) => Array.from(kind.turns ?? []));
                this.turns.options.yRange = [Math.min(...turns, ...trained) / 1.5, Math.max(...turns) * 1.5];
                this.remarks.textContent = found.words;
            },
        );
        this.#point(this.place.number('pair', -1), null);
        this.#showOne();
    }

    /** The comparison. Of a model the server knows all that was not set by hand, but how long its texts are to be.
     * @returns {Values} */
    #asked() {
        const model = this.place.get('model');
        const { target_length } = this.#values();
        const values = model === '' ? this.#values() : { model, ...this.chosen(this.names), target_length };
        const rope_types = this.#chosen()
            .filter((type) => type !== NAIVE)
            .join(',');
        return { ...values, dtype: 'float64', rope_types };
    }

    /** @param {string[]} types @param {AbortSignal} signal */
    async read(types, signal) {
        const own = types.filter((type) => type !== NAIVE);
        const found = await tensors(PATH, this.#asked(), { signal });
        const { factor, ...all } = /** @type {Values} */ (found.parameters);
        const { head_dim, rope_theta, rotary_dim, max_position_embeddings } = all;
        const unscaled = { head_dim, rope_theta, rotary_dim, max_position_embeddings, dtype: 'float64' };
        const trained = { ...unscaled, target_length: max_position_embeddings, rope_types: 'default' };
        const facts = await listed(found, signal);
        const n = facts.wavelength.length / own.length;
        const kinds = own.map((name, i) => {
            const part = /** @param {string} tensor */ (tensor) => facts[tensor].slice(i * n, (i + 1) * n);
            const [frequency, wavelength, stretch, turns] = ['inv_freq', 'wavelength', 'stretch', 'turns'].map(part);
            return /** @type {Kind} */ ({ name, frequency, wavelength, stretch, turns });
        });
        if (types.includes(NAIVE)) kinds.push(await naive({ head_dim, rope_theta, factor }, signal));
        return {
            ...{ kinds, facts, types: own, waves: { base: String(rope_theta), width: String(2 * n) } },
            /** Turns within the training length. */
            trained: (await arrays(PATH, trained, signal)).turns,
            settings: /** @type {Settings} */ (found.scalars.settings),
            words: found.scalars.warnings ? `${String(found.scalars.warnings)}.` : '',
        };
    }

    /** From the largest trained angle to the full turn, for the pairs that have not trained on all of it.
     * @param {import('../parts/curve.js').Curve} curve */
    #zone(curve) {
        const trained = this.found?.trained ?? [];
        const slow = Array.from(trained, (turns, pair) => ({ turns, pair })).filter(({ turns }) => turns < 1);
        if (slow.length === 0) return [];
        const top = curve.y(1);
        const [first, last] = [slow[0], slow[slow.length - 1]].map(({ pair }) => curve.x(pair));
        const low = slow.map(({ turns, pair }) => `${curve.x(pair).toFixed(1)} ${curve.y(turns).toFixed(1)}`);
        return [
            svg('path.zone', { d: `M${first} ${top}L${low.join('L')}L${last} ${top}Z` }),
            svg('line.full', { x1: curve.x(0), x2: curve.x(trained.length - 1), y1: top, y2: top }),
            svg('text', { x: last - 4, y: top + 16, 'text-anchor': 'end' }, 'never seen'),
        ];
    }

    /** @param {number} pair @param {boolean | null} done null: the address says so */
    #point(pair, done) {
        const { found } = this;
        if (found === null) return;
        const n = found.kinds[0].wavelength.length;
        const at = pair >= 0 && pair < n ? pair : null;
        if (done) this.place.set({ pair: at });
        for (const curve of [this.waves, this.stretch, this.turns]) curve.mark(at);
        const { facts, kinds, types, waves } = found;
        put(
            this.table,
            sideBySide('The types side by side', kinds, WAVES, ({ wavelength }, i) => [
                Math.max(...Array.from(wavelength)),
                ...SCALED.map((name) => (i < types.length ? facts[name][i] : undefined)),
            ]),
            sideBySide('Against the training length', kinds.slice(0, types.length), Object.values(UNSEEN), (_, i) =>
                Object.keys(UNSEEN).map((name) => facts[name][i]),
            ),
            at === null
                ? h('p.note', 'Point at a pair for its numbers.')
                : sideBySide(`Pair ${at}`, kinds, PAIR, (kind) => PAIR.map((name) => kind[name]?.[at])),
        );
        if (at === null) return this.readout.show(null);
        const unscaled = power(waves.base, row('−', 2 * at, '/', waves.width));
        const frequencies = kinds.flatMap(({ name, frequency, stretch }) => {
            const slower = stretch[at] === 1 ? [] : ['/', digits(stretch[at])];
            const [[, value], bits] = valueFacts(frequency[at]);
            const whole = equation([unscaled.cloneNode(true), ...slower], String(value));
            return [/** @type {import('../parts/readout.js').Fact} */ ([`frequency, ${name}`, whole]), bits];
        });
        this.readout.show([['pair', at], ...frequencies]);
    }

    /** What is seen of one type alone: its settings for engines, and the errors of its angles. */
    #showOne() {
        if (this.found === null) return;
        const { ofType } = this;
        const { settings, types } = this.found;
        const type = types.includes(this.place.get('for')) ? this.place.get('for') : types[types.length - 1];
        if (types.join() !== ofType.names) {
            ofType.names = types.join();
            ofType.shown = ofType.places.map(() => choice('type', types, (value) => this.set({ for: value })));
            ofType.places.forEach((place, i) => put(place, ofType.shown[i].element));
        }
        for (const each of ofType.shown) each.show(type);
        const source = address(PATH, this.#asked());
        const from = h('p.note', 'From ', h('a', { href: source }, source));
        put(this.settings, blocks(settings[type] ?? {}), from);
        const own = settings[type]?.posenc?.value;
        const far = this.get('numerics') === 'float32';
        if (!far || typeof own !== 'string') return this.drift.open(false);
        const { dtype: _, numerics: __, ...values } = Object.fromEntries(new URLSearchParams(own.split('?')[1]));
        this.drift.open({ path: '/v1/rope/table', values, waves: values });
    }

    /** @param {File} file */
    take(file) {
        return this.config.take(file);
    }
}

export const show = opened(Reach, {
    title: 'Long contexts',
    words: [
        'A pair whose wave is longer than the training text has turned through a part of the circle only; the rest of its angles is new to the model.',
        'The shaded zone is what training never saw: a longer text takes the unscaled pairs into it.',
        'Every scaling slows the pairs so that they stay out of the zone, and each chooses which pairs pay for it.',
    ],
    papers: ['rope/compare', 'rope/frequencies'],
    phrases: [
        ['Linear scaling slows every pair by the same factor', { types: 'default,linear', pair: '0' }],
        ['YaRN leaves pair 10 as it is', { types: 'default,yarn', pair: '10' }],
        ['and slows pair 40 of Qwen3 at 131072', { model: 'qwen3-0.6b', types: 'default,yarn', pair: '40' }],
        ['Llama 3.1 turns its last pair once in 20 million', { model: 'llama-3.1-8b', types: 'published', pair: '63' }],
    ],
    asked: [
        {
            question: 'The base is 10000, head_dim 128, s = 8. What is NTK’s scaled base?',
            answer: async () => Number((await tensors('/v1/rope/scaled-base', SCALED_BASE)).scalars.scaled_base),
        },
        {
            question: 'How long is the longest wave of Llama 3.1 8B?',
            unit: 'positions',
            of: ['/v1/rope/frequencies', { model: 'llama-3.1-8b', dtype: 'float64' }, 'wavelength'],
            at: -1,
        },
        {
            question:
                'The base is 10000, head_dim 128, trained on 4096 tokens. Which pair first exceeds its training range in a text of 32768?',
            answer: async () => {
                const { turns, unseen_pairs: unseen } = await arrays(PATH, { ...DEFAULTS, rope_types: 'default' });
                return turns.length - unseen[0];
            },
        },
    ],
});
