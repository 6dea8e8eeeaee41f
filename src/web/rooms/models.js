// models.js - a lane for each layer of a model: its scheme, whether it rotates, how far it sees, how it is scaled.
import { Problem, json, tensors } from '../parts/api.js';
import { h, put } from '../parts/dom.js';
import { brief } from '../parts/number.js';
import { texts } from '../parts/place.js';
import { pointed } from '../parts/pointers.js';
import { Room, opened } from '../parts/room.js';
import { grid, scrolled } from '../parts/table.js';
import { configBox, picker } from './catalogue.js';

/** @typedef {import('./catalogue.js').Resolved['layers'][number]} Layers */
/** @typedef {{title: string, count: number, kinds: (Layers & {window: string, factor: string})[]}} Model */

/** @type {Record<string, string>} */
const SCHEMES = { rope: 'RoPE', alibi: 'ALiBi', t5: 'T5 buckets', none: 'none (NoPE)' };
const SLIDING = ['sliding_window', 'local_attention'];
const COUNTS = ['num_hidden_layers', 'n_layer', 'num_layers', 'n_layers', 'num_decoder_layers'];
const HEADS = ['layers', 'scheme', 'rotates', 'theta', 'window', 'scaling', 'attention factor'];

/** The first of these keys that a configuration has. @param {Record<string, any>} config @param {string[]} names */
const keyOf = (config, names) =>
    names.map((name) => config.text_config?.[name] ?? config[name]).find((value) => typeof value === 'number');

/** Which layers, in words: 3, 7, 11 … @param {number[]} indices @param {number} most */
const listed = (indices, most) =>
    (indices.length > most ? [...indices.slice(0, 3), '…', indices.at(-1)] : indices).join(', ');

/** @param {Record<string, any>} parameters */
function rotated({ rotary_dim, head_dim }) {
    if (rotary_dim === undefined) return 'no';
    return rotary_dim === head_dim ? `all ${head_dim} channels` : `${rotary_dim} of ${head_dim} channels`;
}

/** The row of a kind of layers. @param {Model['kinds'][number]} kind @param {number} i */
function rowOf({ encoding, indices, parameters, window, factor }, i) {
    const which = indices.length === 0 ? 'all' : `${indices.length}: ${listed(indices, 6)}`;
    const { rope_theta, rope_type: type, factor: times } = /** @type {Record<string, any>} */ (parameters);
    const theta = rope_theta === undefined ? '–' : brief(rope_theta);
    const scaling = [undefined, 'default'].includes(type) ? '–' : type + (times ? ` × ${brief(times)}` : '');
    const cells = [SCHEMES[encoding] ?? encoding, rotated(parameters), theta, window, scaling, factor];
    return h('tr', { 'data-kind': i }, [
        h('th', { scope: 'row', class: `series-${i % 8}` }, which),
        cells.map((cell) => h('td', cell)),
    ]);
}

/** A model as lanes and their table. @param {Model} model */
function drawn({ title, count, kinds }) {
    const whole = Math.max(count, ...kinds.flatMap(({ indices }) => indices.map((i) => i + 1)), 1);
    const layers = Array.from({ length: whole }, (_, layer) => {
        const kind = kinds.findIndex(({ indices }) => indices.includes(layer));
        return { ...kinds[Math.max(0, kind)], kind: Math.max(0, kind) };
    });
    const said = h('p.caption', { role: 'status' });
    const rows = kinds.map(rowOf);
    const lanes = layers.map(({ encoding, window, kind }, layer) => {
        const title = `layer ${layer}: ${SCHEMES[encoding] ?? encoding}, sees ${window}`;
        const how = (encoding === 'rope' ? '' : ' still') + (window === 'all' ? '' : ' near');
        return h('li', { class: `lane series-${kind % 8}${how}`, title, 'data-layer': layer });
    });
    const list = h('ol.lanes', { 'aria-label': `${whole} layers of ${title}` }, lanes);
    pointed(list, 'data-layer', (layer) => {
        const { encoding, parameters, layer_type, kind } = layers[Number(layer)];
        rows.forEach((row, i) => row.classList.toggle('at', i === kind));
        const turns = encoding === 'rope' ? `rotates ${rotated(parameters)}` : 'does not rotate';
        said.textContent = `Layer ${layer} ${turns} (${layer_type}).`;
    });
    const still = kinds.filter(({ encoding }) => encoding !== 'rope').flatMap(({ indices }) => indices);
    const some = still.length > 0 && still.length < whole;
    said.textContent = `Of ${whole} layers, ${still.length} do not rotate: ${listed(still, 12)}.`;
    if (!some) said.textContent = `${whole} layers.`;
    const table = scrolled(`Layers of ${title}`, grid({ class: 'types-table' }, '', HEADS, rows));
    return h('section.model', { 'aria-label': title }, h('h2', title), said, list, table);
}

class Models extends Room {
    usual = { model: 'llama-4-scout-17b-16e', beside: '' };
    /** @private */ names = this.rows('rope/frequencies').map(({ name }) => name);
    out = h('div.strata-pair', { 'aria-busy': true });
    ask = this.asks(this.fault.show, { busy: this.out });
    config = configBox((resolved, text) => {
        this.ask.stop();
        const model = this.#modelOf('Your configuration', JSON.parse(text), resolved);
        void model.then((found) => this.out.replaceChildren(drawn(found)));
    });

    notes = [
        [
            'Read from ',
            h('code', 'GET /v1/models/NAME'),
            ' and ',
            h('code', 'POST /v1/models/resolve'),
            '. A layer without rotation is told its order by its causal mask, and by the layers around it.',
        ],
    ];

    layout() {
        return [
            this.phrases(),
            h('div.panel.fields', [
                this.bound('model', (change) => picker(change, { needed: true })),
                this.bound('beside', (change) => picker(change, { label: 'beside it' })),
                this.config,
            ]),
            this.fault,
            this.out,
        ];
    }

    /** @param {string} title @param {Record<string, any>} config @param {import('./catalogue.js').Resolved} resolved @param {AbortSignal} [signal] @returns {Promise<Model>} */
    async #modelOf(title, config, { layers }, signal) {
        const kinds = layers.map(async (each) => {
            const { encoding, layer_type, parameters } = each;
            // How far it sees, as the configuration says.
            const sliding = /sliding|local/.test(layer_type) && keyOf(config, SLIDING);
            const chunk = encoding === 'rope' && keyOf(config, ['attention_chunk_size']);
            const all = chunk ? `chunks of ${brief(chunk)}` : 'all';
            const values = texts(parameters, (name) => this.names.includes(name));
            let factor = '–';
            if (encoding === 'rope')
                try {
                    // What cosines and sines are multiplied by.
                    const { scalars } = await tensors('/v1/rope/frequencies', values, { signal });
                    factor = brief(Number(scalars.attention_factor ?? 1), 6);
                } catch (error) {
                    if (!(error instanceof Problem)) throw error;
                }
            return { ...each, window: sliding ? `${brief(sliding)} tokens` : all, factor };
        });
        return { title, count: keyOf(config, COUNTS) ?? 1, kinds: await Promise.all(kinds) };
    }

    load() {
        const names = [this.get('model'), this.get('beside')].filter(Boolean);
        const read = /** @param {string} name @param {AbortSignal} signal */ async (name, signal) => {
            const { title, config, resolved } = await json(`/v1/models/${encodeURIComponent(name)}`, {}, { signal });
            return this.#modelOf(title, config, resolved, signal);
        };
        void this.ask.ask(
            names,
            (signal) => Promise.all(names.map((name) => read(name, signal))),
            (models) => put(this.out, models.map(drawn)),
        );
    }

    /** @param {File} file */
    take(file) {
        return this.config.take(file);
    }
}

export const show = opened(Models, {
    title: 'Models: which layers rotate',
    words: [
        'Not every layer of a model sees positions in the same way: some rotate all pairs, some a part of them, and some not at all (NoPE).',
        'Each lane is a layer, the first at the left; lanes of one colour have the same parameters, and a short one sees a part of the text alone.',
    ],
    phrases: [
        ['Every fourth layer of Llama 4 does not rotate', {}],
        ['five layers of six of Gemma 3 see the near text alone', { model: 'gemma-3-4b' }],
        ['gpt-oss changes from layer to layer', { model: 'gpt-oss-20b' }],
    ],
});
