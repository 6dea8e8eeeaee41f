// axes.js - rotary positions of more than one axis: time, height and width of M-RoPE, rows and columns of grids.
import { arrays, json, listed, tensors } from '../parts/api.js';
import { choice, fields } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { call, equation } from '../parts/formula.js';
import { clamp, digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { plain } from '../parts/take.js';
import { picker } from './catalogue.js';
import { Dials } from './dials.js';
import { Sequence, tokensOf } from './sequence.js';

/** @import { Turn } from './dials.js' */

/** @typedef {{head_dim: string, convention: string, rope_theta?: string}} Grid */

const AXES = ['time', 'height', 'width'];
const SIDES = ['row', 'column'];
const BEFORE = ['What', 'is', 'in', 'this', 'picture', '?'];
const AFTER = ['A', 'hill', 'and', 'the', 'sun'];
// A token of these models stands for a square of patches of this side.
const MERGE = 2;
/** The grid of an encoder that the catalogue does not know. @type {Grid} */
const GRID = { head_dim: '64', convention: 'pixtral' };
const MODEL = 'qwen2-vl-2b';
const SIZES = { rows: '4', columns: '6', frames: '3' };
const MOST = { rows: 8, columns: 10, frames: 6 };

const SECONDS = 'From a frame of a video to the next. This model counts time, others count frames.';
const GRIDS = 'Encoders of images have no time: their pairs are turned by the row or the column of a patch.';
const FIELDS = fields([
    ['kind', ['image', 'video'], ''],
    ['rows', 'integer', '', 'tokens', 1, MOST.rows],
    ['columns', 'integer', 'A token is a square of 2 × 2 patches.', 'tokens', 1, MOST.columns],
    ['frames', 'integer', '', '', 1, MOST.frames],
    ['seconds', 'number', SECONDS, 'seconds', 0, 10],
]);

/** What the catalogue says of a model beside its pairs: whether its videos count time, and the grid of its encoder.
 * @param {string} model @param {AbortSignal} signal */
async function factsOf(model, signal) {
    const { resolved } = await json(`/v1/models/${encodeURIComponent(model)}`, {}, { signal });
    /** @type {{path: string, parameters: Record<string, unknown>}[]} */
    const resources = resolved.resources ?? [];
    const { head_dim, convention, rope_theta } =
        resources.find(({ path }) => path === '/v1/rope/grid')?.parameters ?? {};
    return {
        clocked: resources.some(({ parameters }) => parameters.tokens_per_second !== undefined),
        /** @type {Grid | null} */
        grid: convention
            ? { head_dim: String(head_dim), convention: String(convention), rope_theta: String(rope_theta) }
            : null,
    };
}

/** The parameters of a sequence: so many words, a picture, so many words.
 * @param {string} model @param {string} kind @param {number[]} grid frames, rows, columns in tokens @param {number[]} words */
function asked(model, kind, [frames, rows, columns], [before, after]) {
    const grid = [frames, rows * MERGE, columns * MERGE].join(',');
    return {
        ...{ model, token_runs: `text:${before},${kind},text:${after}`, spatial_merge_size: String(MERGE) },
        ...(kind === 'video' ? { video_grid_thw: grid } : { image_grid_thw: grid }),
    };
}

/** The same of all patches of a grid, and the axis that owns each pair: the one whose step turns it.
 * @param {Grid & {height: string, width: string}} values @param {AbortSignal} signal */
async function gridOf(values, signal) {
    const { cos, sin, angles } = await arrays('/v1/rope/grid', values, signal);
    const pairs = cos.length / Number(values.height) / Number(values.width);
    const turned = /** @param {number} pair @param {number} patch */ (pair, patch) =>
        angles[patch * pairs + pair] !== angles[pair];
    return {
        at: /** @param {number} patch @returns {Turn} */ (patch) => {
            const [first, end] = [patch * pairs, (patch + 1) * pairs];
            return { cos: cos.slice(first, end), sin: sin.slice(first, end) };
        },
        owner: Array.from({ length: pairs }, (_, pair) =>
            [Number(values.width), 1].findIndex((patch) => turned(pair, patch)),
        ),
    };
}

/** The axis that owns each pair of a model, and how fast it turns. @param {string} model @param {AbortSignal} [signal] */
async function pairsOf(model, signal) {
    const values = { model, dtype: /** @type {const} */ ('float64') };
    const { inv_freq: frequency, pair_axis } = await arrays('/v1/rope/frequencies', values, signal);
    return { owner: Array.from(pair_axis), frequency };
}

/** One of a list by a number that may be too large or none. @template T @param {T[]} list @param {string} text */
const nth = (list, text) => clamp(Math.round(Number(text)) || 0, 0, list.length - 1);

class Axes extends Room {
    usual = { ...SIZES, model: MODEL, kind: 'image', seconds: '1', at: '14', pair: '0' };
    fields = this.form(FIELDS, () => ({ at: null }));
    /** Those whose positions have three axes. */
    model = this.bound(
        'model',
        (change) => picker(change, { fits: ({ parameters }) => Boolean(parameters.mrope_section), needed: true }),
        { pair: null },
    );
    sequence = new Sequence((token) => this.#choose('at', token));
    dials = new Dials(AXES, (pair) => this.#choose('pair', pair));
    sides = new Dials(SIDES, (pair) => this.#choose('pair', pair));
    readout = new Readout();
    aside = h('span', '…');
    counts = h('span', '…');
    convention = choice('convention', this.rows('rope/grid', ['convention'])[0]?.choices ?? [], (value, done) =>
        this.set({ convention: value === this.found?.encoder ? null : value }, done),
    );
    patch = h('p.note');
    all = this.asks(this.fields.fail);
    turn = this.asks();
    /** @private @type {Awaited<ReturnType<Axes['read']>> | null} */ found = null;
    notes = [
        ['Some texts give the word after a picture its index in the sequence. ', this.aside],
        ['mrope_section counts pairs, not channels: ', this.counts],
    ];

    layout() {
        const positions = () => this.found && plain('/v1/rope/mrope-positions', this.found.values, 'position_ids');
        const pairs = () => this.found && plain('/v1/rope/table', this.#turned(this.found), 'cos');
        const source = () => this.found && plain('/v1/rope/grid', this.found.grid, 'cos');
        const tokens = h('div.pair-of-pictures', this.sequence, this.readout);
        const set = h('div.panel', this.convention);
        return [
            this.split(
                [this.model, this.fields],
                this.section('tokens', 'Tokens and their positions', { first: true, source: positions }, tokens),
                this.section('pairs', 'Which axis turns which pair', { source: pairs }, this.dials),
            ),
            this.section('grids', 'Two axes: the patches of an image encoder', { lead: GRIDS, source }, [
                ...[set, this.patch, this.sides],
            ]),
        ];
    }

    load() {
        const names = ['model', 'convention', ...FIELDS.map(({ name }) => name)];
        void this.all
            .ask(
                this.chosen(names),
                (signal) => this.read(signal),
                (found) => this.#show(found),
            )
            .then(() => this.#follow());
    }

    /** Tokens with their positions, the pairs of the model, and those of the encoder's grid or of another convention.
     * @param {AbortSignal} signal */
    async read(signal) {
        const [model, kind] = [this.get('model'), this.get('kind') === 'video' ? 'video' : 'image'];
        const [rows, columns, most] = Object.entries(MOST).map(([name, size]) => this.whole(name, 1, size));
        const layout = { before: BEFORE, after: AFTER, rows, columns, frames: kind === 'video' ? most : 1 };
        const facts = await factsOf(model, signal);
        const timed = kind === 'video' && facts.clocked;
        const values = {
            ...asked(model, kind, [layout.frames, rows, columns], [BEFORE.length, AFTER.length]),
            ...(timed ? { second_per_grid_ts: this.get('seconds') } : {}),
        };
        const encoder = facts.grid ?? GRID;
        const convention = this.place.get('convention', encoder.convention);
        const size = { height: String(rows * MERGE), width: String(columns * MERGE) };
        const grid = { ...(convention === encoder.convention ? encoder : { ...GRID, convention }), ...size };
        const [positions, pairs, patches] = await Promise.all([
            tensors('/v1/rope/mrope-positions', values, { signal }),
            pairsOf(model, signal),
            gridOf(grid, signal),
        ]);
        const ids = Array.from((await listed(positions, signal)).position_ids);
        const count = ids.length / AXES.length;
        const axes = AXES.map((_, i) => ids.slice(i * count, (i + 1) * count));
        const delta = Number(positions.scalars.mrope_position_delta);
        const of = facts.grid?.convention === convention ? model : convention;
        const drawn = { model, kind, layout, timed, values, grid, patches, of, axes, delta };
        return { ...drawn, ...pairs, encoder: encoder.convention };
    }

    /** @param {NonNullable<Axes['found']>} found */
    #show(found) {
        const { layout, axes, owner, delta } = found;
        this.found = found;
        const tokens = tokensOf(layout);
        this.convention.show(found.grid.convention);
        for (const [name, hidden] of Object.entries({ seconds: !found.timed, frames: found.kind !== 'video' }))
            this.fields.element.querySelector(`[data-parameter="${name}"]`)?.toggleAttribute('hidden', hidden);
        this.sequence.show(layout, tokens, axes);
        const next = tokens.length - AFTER.length;
        const [of, position] = [next - BEFORE.length, axes[0][next]];
        this.aside.textContent =
            `Here “${AFTER[0]}” is token ${next} and has position ${position}: the picture has ${of} tokens and takes ` +
            `${position - BEFORE.length} positions. A generated token stands at its index plus mrope_position_delta, ` +
            `here ${delta}.`.replace('-', '−');
        const counts = AXES.map((_, axis) => owner.filter((each) => each === axis).length);
        this.counts.textContent = `${counts.join(' + ')} pairs of ${found.model} are ${2 * owner.length} channels.`;
    }

    /** @param {string} name @param {number} value */
    #choose(name, value) {
        if (this.get(name) === String(value)) return;
        this.keep({ [name]: value });
        this.#follow();
    }

    /** The token that is pointed at, with its positions. @param {NonNullable<Axes['found']>} found */
    #token({ layout, axes }) {
        const tokens = tokensOf(layout);
        const token = tokens[nth(tokens, this.get('at'))];
        return { ...token, positions: axes.map((axis) => axis[token.token]) };
    }

    /** @param {NonNullable<Axes['found']>} found */
    #turned(found) {
        const positions = this.#token(found).positions.join(';');
        return { model: found.model, positions, dtype: /** @type {const} */ ('float64') };
    }

    /** What follows the token and the pair that are pointed at. */
    #follow() {
        const { found } = this;
        if (found === null) return;
        const { owner, frequency, patches, of } = found;
        const { token, name, kind, row, column, positions } = this.#token(found);
        this.sequence.mark(token, name);
        // The dials of the grid stand at the first patch of the token.
        const { head_dim, height, width } = found.grid;
        const [r, c] = kind === 'patch' ? [row * MERGE, column * MERGE] : [0, 0];
        this.patch.textContent =
            `${of}: heads of ${head_dim} channels, ${height} × ${width} patches. ` +
            `${kind === 'patch' ? '' : 'A word has no row. '}The hands stand at row ${r}, column ${c}.`;
        this.sides.show(patches.owner, patches.at(r * Number(width) + c), nth(patches.owner, this.get('pair')));
        const values = this.#turned(found);
        const pair = nth(owner, this.get('pair'));
        const axis = owner[pair];
        void this.turn.ask(
            [values, pair, token],
            (signal) => arrays('/v1/rope/table', values, signal),
            ({ cos, sin }) => {
                this.dials.show(owner, { cos, sin }, pair);
                const turns = Object.entries({ cos, sin }).flatMap(([name, hands]) => {
                    const turn = call(name, positions[axis], '·', digits(frequency[pair]));
                    return [
                        [name, equation([turn], digits(hands[pair]))],
                        [`bits of ${name}`, hex(hands[pair])],
                    ];
                });
                this.readout.show({
                    token: `${token}, ${name}`,
                    ...Object.fromEntries(AXES.map((each, i) => [each, positions[i]])),
                    pair: `${pair}, turned by ${AXES[axis]}`,
                    frequency: digits(frequency[pair]),
                    ...Object.fromEntries(turns),
                });
            },
        );
    }
}

export const show = opened(Axes, {
    title: 'Images and video: time, height and width',
    words: [
        'A word has the same position on all three axes, so that words alone are turned as by RoPE.',
        'A patch has the time of its frame, and counts its row and its column from there; the next word comes one after the highest position so far.',
        'Each pair of channels is turned by one axis alone: the colour of its dial says which, and its hand by how much.',
    ],
    papers: ['rope/mrope-positions', 'rope/grid'],
    phrases: [
        ['The word after the picture stands close behind it', { at: '30' }],
        ['a video has a time for every frame', { kind: 'video', at: '62' }],
        ['Qwen3.5 deals its pairs to the axes in turn', { model: 'qwen3.5-9b' }],
    ],
    asked: [
        {
            question:
                'Qwen2-VL 2B reads 4 words, an image of 6 × 9 tokens, and a word. What is the position of that word?',
            within: 0,
            of: ['/v1/rope/mrope-positions', asked(MODEL, 'image', [1, 6, 9], [4, 1]), 'position_ids'],
            at: -1,
        },
        {
            question: 'How many pairs of Qwen2-VL 2B are turned by the width?',
            unit: 'pairs',
            within: 0,
            answer: async () => (await pairsOf(MODEL)).owner.filter((axis) => axis === 2).length,
        },
    ],
});
