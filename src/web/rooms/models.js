// models.js - a lane for each layer of a model: its scheme, whether it rotates, how far it sees, how it is scaled.
import { Problem, json, tensors } from '../parts/api.js';
import { h } from '../parts/dom.js';
import { complaint } from '../parts/latest.js';
import { brief } from '../parts/number.js';
import { Room, opened } from '../parts/room.js';
import { note, story } from '../parts/story.js';
import { grid } from '../parts/table.js';
import { configBox, picker } from './catalogue.js';

/** @import { Context } from './rooms.js' */

/** @typedef {import('./catalogue.js').Resolved['layers'][number]} Layers */
/** @typedef {{title: string, count: number, kinds: (Layers & {window: string, factor: string})[]}} Model */

/** @type {Record<string, string>} */
const USUAL = { model: 'llama-4-scout-17b-16e', beside: '' };
/** @type {Record<string, string>} */
const SCHEMES = { rope: 'RoPE', alibi: 'ALiBi', t5: 'T5 buckets', none: 'none (NoPE)' };
const COUNTS = ['num_hidden_layers', 'n_layer', 'num_layers', 'n_layers', 'num_decoder_layers'];
const HEADS = ['layers', 'scheme', 'rotates', 'theta', 'window', 'scaling', 'attention factor'];

const WORDS = [
    'Not every layer of a model sees positions in the same way: some rotate all pairs, some a part of them, and some not at all (NoPE).',
    'Each lane is a layer, the first at the top; lanes of one colour have the same parameters.',
];

/** The first of these keys that a configuration has. @param {Record<string, any>} config @param {string[]} names */
const keyOf = (config, names) =>
    names.map((name) => config.text_config?.[name] ?? config[name]).find((value) => typeof value === 'number');

/** How far a kind of layers sees, as the configuration says. @param {Layers} layers @param {Record<string, any>} config */
function windowOf({ layer_type, encoding }, config) {
    const sliding = /sliding|local/.test(layer_type) ? keyOf(config, ['sliding_window', 'local_attention']) : undefined;
    const chunk = encoding === 'rope' ? keyOf(config, ['attention_chunk_size']) : undefined;
    if (sliding !== undefined) return `${brief(sliding)} tokens`;
    return chunk === undefined ? 'all' : `chunks of ${brief(chunk)}`;
}

/** Which layers, in words: 3, 7, 11 … @param {number[]} indices */
const listed = (indices) => (indices.length > 12 ? [...indices.slice(0, 3), '…', indices.at(-1)] : indices).join(', ');

/** @param {Record<string, any>} parameters */
function rotated({ rotary_dim, head_dim }) {
    if (rotary_dim === undefined) return 'no';
    return rotary_dim === head_dim ? `all ${head_dim} channels` : `${rotary_dim} of ${head_dim} channels`;
}

/** @param {Record<string, any>} parameters */
const scaling = ({ rope_type, factor }) =>
    rope_type === undefined || rope_type === 'default' ? '–' : rope_type + (factor ? ` × ${brief(factor)}` : '');

/** A model as lanes and their table. @param {Model} model */
function drawn({ title, count, kinds }) {
    const whole = Math.max(count, ...kinds.flatMap(({ indices }) => indices.map((i) => i + 1)), 1);
    const kindOf = /** @param {number} layer */ (layer) =>
        Math.max(
            0,
            kinds.findIndex(({ indices }) => indices.includes(layer)),
        );
    const said = h('p.caption', { role: 'status' });
    const rows = kinds.map(({ encoding, indices, parameters, window, factor }, i) => {
        const which = indices.length === 0 ? 'all' : `${indices.length}: ${listed(indices)}`;
        const { rope_theta } = /** @type {Record<string, any>} */ (parameters);
        const theta = rope_theta === undefined ? '–' : brief(rope_theta);
        const cells = [SCHEMES[encoding] ?? encoding, rotated(parameters), theta, window, scaling(parameters), factor];
        return h('tr', { 'data-kind': i }, [
            h('th', { scope: 'row', class: `series-${i % 8}` }, which),
            cells.map((cell) => h('td', cell)),
        ]);
    });
    const point = /** @param {number} layer */ (layer) => {
        const kind = kindOf(layer);
        rows.forEach((row, i) => row.classList.toggle('at', i === kind));
        const { encoding, parameters, layer_type } = kinds[kind];
        const turns = encoding === 'rope' ? `rotates ${rotated(parameters)}` : 'does not rotate';
        said.textContent = `Layer ${layer} ${turns} (${layer_type}).`;
    };
    const lane = /** @param {number} layer */ (layer) => {
        const { encoding, window } = kinds[kindOf(layer)];
        const name = `layer ${layer}: ${SCHEMES[encoding] ?? encoding}, sees ${window}`;
        const still = encoding === 'rope' ? '' : ' still';
        return h('li', { class: `lane series-${kindOf(layer) % 8}${still}`, title: name, 'data-layer': layer });
    };
    const lanes = h('ol.lanes', { 'aria-label': `${whole} layers of ${title}` }, [
        Array.from({ length: whole }, (_, layer) => lane(layer)),
    ]);
    lanes.addEventListener('pointerover', (event) => {
        const layer = /** @type {HTMLElement} */ (event.target).dataset.layer;
        if (layer) point(Number(layer));
    });
    const still = kinds.filter(({ encoding }) => encoding !== 'rope').flatMap(({ indices }) => indices);
    said.textContent =
        still.length === 0 || still.length === whole
            ? `${whole} layers.`
            : `Of ${whole} layers, ${still.length} do not rotate: ${listed(still)}.`;
    const table = h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Layers of ${title}` }, [
        grid({ class: 'types-table' }, '', HEADS, rows),
    ]);
    return h('section.model', { 'aria-label': title }, h('h2', title), said, h('div.strata', lanes, table));
}

class Models extends Room {
    /** @param {HTMLElement} host @param {Context} context */
    constructor(host, context) {
        super(context, USUAL);
        const [frequencies] = this.resources('rope/frequencies');
        /** @private */ this.names = frequencies?.parameters.map(({ name }) => name) ?? [];
        this.fault = complaint();
        this.ask = this.asks(this.fault.show);
        this.out = h('div.strata-pair', { 'aria-busy': true });
        this.pickers = [
            picker((model) => this.set({ model }), { needed: true }),
            picker((beside) => this.set({ beside }), { label: 'beside it' }),
        ];
        this.config = configBox((resolved, text) => {
            this.ask.stop();
            const parsed = JSON.parse(text);
            void this.#modelOf('Your configuration', parsed, resolved).then((model) =>
                this.out.replaceChildren(drawn(model)),
            );
        });
        const panel = h('div.panel.fields', [
            this.pickers.map(({ element }) => element),
            h('details.more', h('summary', 'Paste or drop a config.json'), this.config.element),
        ]);
        host.replaceChildren(
            story('Models: which layers rotate', WORDS, []),
            panel,
            this.fault.element,
            this.out,
            note(
                'Read from ',
                h('code', 'GET /v1/models/NAME'),
                ' and ',
                h('code', 'POST /v1/models/resolve'),
                '. A layer without rotation is told its order by its causal mask, and by the layers around it.',
            ),
        );
        this.update();
    }

    /** @param {string} title @param {Record<string, any>} config @param {import('./catalogue.js').Resolved} resolved @param {AbortSignal} [signal] @returns {Promise<Model>} */
    async #modelOf(title, config, { layers }, signal) {
        const kinds = layers.map(async (each) => ({
            ...each,
            window: windowOf(each, config),
            factor: await this.#factorOf(each, signal),
        }));
        return { title, count: keyOf(config, COUNTS) ?? 1, kinds: await Promise.all(kinds) };
    }

    /** What cosines and sines are multiplied by. @param {Layers} layers @param {AbortSignal} [signal] */
    async #factorOf({ encoding, parameters }, signal) {
        if (encoding !== 'rope') return '–';
        const known = Object.entries(parameters).filter(([name]) => this.names.includes(name));
        const values = Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
        try {
            const { scalars } = await tensors('/v1/rope/frequencies', values, { signal });
            return brief(Number(scalars.attention_factor ?? 1), 6);
        } catch (error) {
            if (!(error instanceof Problem)) throw error;
            return '–';
        }
    }

    update() {
        const names = [this.get('model'), this.get('beside')];
        this.pickers.forEach(({ show }, i) => show(names[i]));
        void this.ask
            .ask(
                names,
                (signal) =>
                    Promise.all(
                        names.filter(Boolean).map(async (name) => {
                            const path = `/v1/models/${encodeURIComponent(name)}`;
                            const { title, config, resolved } = await json(path, {}, { signal });
                            return this.#modelOf(title, config, resolved, signal);
                        }),
                    ),
                (models) => this.out.replaceChildren(...models.map(drawn)),
            )
            .then(() => this.out.removeAttribute('aria-busy'));
    }

    /** @param {File} file */
    take(file) {
        return this.config.take(file);
    }
}

export const show = opened(Models);
