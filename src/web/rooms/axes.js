// axes.js - rotary positions of more than one axis: time, height and width of M-RoPE, rows and columns of grids.
import { arrays, json, numbers, tensors } from '../parts/api.js';
import { choice, fields } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { call, formula } from '../parts/formula.js';
import { split } from '../parts/latest.js';
import { digits, hex } from '../parts/number.js';
import { Readout } from '../parts/readout.js';
import { Room, opened } from '../parts/room.js';
import { exercises, note } from '../parts/story.js';
import { plain } from '../parts/take.js';
import { picker } from './catalogue.js';
import { Dials, owners, steps } from './dials.js';
import { Sequence, tokensOf } from './sequence.js';

/** @import { Turn } from './dials.js' */
/** @import { Layout, Token } from './sequence.js' */

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

const WORDS = [
    'A word has the same position on all three axes, so that words alone are turned as by RoPE.',
    'A patch has the time of its frame, and counts its row and its column from there; the next word comes one after the highest position so far.',
    'Each pair of channels is turned by one axis alone: the colour of its dial says which, and its hand by how much.',
];

const SECONDS = 'From a frame of a video to the next. This model counts time, others count frames.';
const GRIDS = 'Encoders of images have no time: their pairs are turned by the row or the column of a patch.';
const FIELDS = fields([
    ['kind', ['image', 'video'], ''],
    ['rows', 'integer', '', 'tokens', 1, 8],
    ['columns', 'integer', 'A token is a square of 2 × 2 patches.', 'tokens', 1, 10],
    ['frames', 'integer', '', '', 1, 6],
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
        model,
        clocked: resources.some(({ parameters }) => parameters.tokens_per_second !== undefined),
        /** @type {Grid | null} */
        grid: convention
            ? { head_dim: String(head_dim), convention: String(convention), rope_theta: String(rope_theta) }
            : null,
    };
}

/** The parameters of a sequence: so many words, a picture, so many words.
 * @param {string} model @param {string} kind @param {number[]} grid frames, rows, columns in tokens @param {number[]} words
 * @returns {{model: string, token_runs: string, spatial_merge_size: string, image_grid_thw?: string, video_grid_thw?: string, second_per_grid_ts?: string}} */
function asked(model, kind, [frames, rows, columns], [before, after]) {
    const grid = [frames, rows * MERGE, columns * MERGE].join(',');
    return {
        model,
        token_runs: `text:${before},${kind},text:${after}`,
        spatial_merge_size: String(MERGE),
        ...(kind === 'video' ? { video_grid_thw: grid } : { image_grid_thw: grid }),
    };
}

/** Positions on the three axes. @param {ReturnType<typeof asked>} values @param {AbortSignal} [signal] */
async function positionsOf(values, signal) {
    const found = await tensors('/v1/rope/mrope-positions', values, { signal });
    const all = Array.from(await numbers(found, signal, 'position_ids'));
    const count = all.length / AXES.length;
    return {
        delta: Number(found.scalars.mrope_position_delta),
        axes: AXES.map((_, i) => all.slice(i * count, (i + 1) * count)),
    };
}

/** Cosines and sines of a model's pairs. @param {string} model @param {string} positions @param {AbortSignal} [signal] @returns {Promise<Turn>} */
async function turnOf(model, positions, signal) {
    const { cos, sin } = await arrays('/v1/rope/table', { model, positions, dtype: 'float64' }, signal);
    return { cos, sin };
}

/** The same of all patches of a grid, and the axis that owns each pair.
 * @param {Grid & {height: string, width: string}} values @param {AbortSignal} signal */
async function gridOf(values, signal) {
    const { cos, sin } = await arrays('/v1/rope/grid', values, signal);
    const pairs = cos.length / Number(values.height) / Number(values.width);
    const at = /** @param {number} patch @returns {Turn} */ (patch) => ({
        cos: cos.slice(patch * pairs, (patch + 1) * pairs),
        sin: sin.slice(patch * pairs, (patch + 1) * pairs),
    });
    const near = [0, Number(values.width), 1].map(at);
    const all = /** @param {'cos' | 'sin'} name */ (name) => near.flatMap((each) => Array.from(each[name]));
    return { values, at, owner: owners({ cos: all('cos'), sin: all('sin') }, SIDES.length) };
}

/** The axis that owns each pair of a model, and how fast it turns. @typedef {Awaited<ReturnType<typeof pairsOf>>} Pairs
 * @param {string} model @param {AbortSignal} signal */
async function pairsOf(model, signal) {
    const [turn, { inv_freq: frequency }] = await Promise.all([
        turnOf(model, steps(AXES.length), signal),
        arrays('/v1/rope/frequencies', { model, dtype: 'float64' }, signal),
    ]);
    return { model, owner: owners(turn, AXES.length), frequency };
}

/** @type {import('../parts/story.js').Exercise[]} */
const ASKED = [
    {
        question: 'Qwen2-VL 2B reads 4 words, an image of 6 × 9 tokens, and a word. What is the position of that word?',
        within: 0,
        answer: async () => {
            const { axes } = await positionsOf(asked(MODEL, 'image', [1, 6, 9], [4, 1]));
            return axes[0][axes[0].length - 1];
        },
    },
    {
        question: 'How many pairs of Qwen2-VL 2B are turned by the width?',
        unit: 'pairs',
        within: 0,
        answer: async () =>
            owners(await turnOf(MODEL, steps(AXES.length)), AXES.length).filter((axis) => axis === 2).length,
    },
];

/** One of a list by a number that may be too large or none. @template T @param {T[]} list @param {string} text */
const nth = (list, text) => Math.min(list.length - 1, Math.max(0, Math.round(Number(text)) || 0));

class Axes extends Room {
    usual = { ...SIZES, model: MODEL, kind: 'image', seconds: '1', at: '14', pair: '0' };
    fields = this.form(FIELDS, () => ({ at: null }));
    sequence = new Sequence((token) => this.#choose('at', token));
    dials = new Dials(AXES, (pair) => this.#choose('pair', pair));
    sides = new Dials(SIDES, (pair) => this.#choose('pair', pair));
    readout = new Readout();
    aside = h('span', '…');
    counts = h('span', '…');
    /** @private @type {Awaited<ReturnType<typeof factsOf>>} */
    facts = { model: '', clocked: false, grid: null };
    convention = choice('convention', this.rows('rope/grid', ['convention'])[0]?.choices ?? [], (value, done) =>
        this.set({ convention: value === this.#encoder().convention ? null : value }, done),
    );
    patch = h('p.note');
    questions = {
        facts: this.asks(),
        sequence: this.asks(this.fields.fail),
        owners: this.asks(),
        turn: this.asks(),
        grid: this.asks((error) => this.convention.fail(error === null ? '' : String(error))),
    };
    /** Positions on the axes, the pairs of the model, and those of the grid. @private */
    found = /** @type {Awaited<ReturnType<typeof positionsOf>> | null} */ (null);
    pairs = /** @type {Pairs | null} */ (null);
    drawn = /** @type {Awaited<ReturnType<typeof gridOf>> | null} */ (null);

    layout() {
        const positions = () => plain('/v1/rope/mrope-positions', this.#values(), 'position_ids');
        const pairs = () => (this.found ? plain('/v1/rope/table', this.#turned(), 'cos') : null);
        const source = () => plain('/v1/rope/grid', this.#grid(), 'cos');
        // Those whose positions have three axes.
        const which = {
            fits: /** @param {import('./catalogue.js').Model} model */ ({ parameters }) =>
                Boolean(parameters.mrope_section),
            needed: true,
        };
        const model = this.bound('model', (change) => picker(change, which), { pair: null });
        return [
            this.story('Images and video: time, height and width', WORDS, 'rope/mrope-positions', 'rope/grid'),
            split(
                [model.element, this.fields.element],
                this.section('tokens', 'Tokens and their positions', { first: true, source: positions }, [
                    h('div.pair-of-pictures', this.sequence.element, this.readout.element),
                ]),
                this.section('pairs', 'Which axis turns which pair', { source: pairs }, this.dials.element),
            ),
            this.section('grids', 'Two axes: the patches of an image encoder', { lead: GRIDS, source }, [
                h('div.panel', this.convention.element),
                this.patch,
                this.sides.element,
            ]),
            exercises(
                ASKED,
                note('Some texts give the word after a picture its index in the sequence. ', this.aside),
                note('mrope_section counts pairs, not channels: ', this.counts),
            ),
        ];
    }

    /** @returns {Layout} */
    #layoutOf() {
        const [rows, columns, frames] = Object.entries(SIZES).map(([name, usual]) => {
            const most = FIELDS.find((each) => each.name === name)?.maximum ?? 1;
            return Math.min(most, Math.max(1, Math.round(Number(this.get(name))) || Number(usual)));
        });
        return { before: BEFORE, after: AFTER, rows, columns, frames: this.get('kind') === 'video' ? frames : 1 };
    }

    #tokens() {
        return tokensOf(this.#layoutOf());
    }

    #values() {
        const { before, after, frames, rows, columns } = this.#layoutOf();
        const kind = this.get('kind') === 'video' ? 'video' : 'image';
        const values = asked(this.get('model'), kind, [frames, rows, columns], [before.length, after.length]);
        return this.#timed() ? { ...values, second_per_grid_ts: this.get('seconds') } : values;
    }

    /** Whether the seconds between frames count. */
    #timed() {
        const { model, clocked } = this.facts;
        return this.get('kind') === 'video' && clocked && model === this.get('model');
    }

    /** The grid of the model's encoder, where the catalogue has one. */
    #encoder() {
        const { model, grid } = this.facts;
        return (model === this.get('model') ? grid : null) ?? GRID;
    }

    /** The encoder's grid of the picture, or that of another convention. */
    #grid() {
        const own = this.#encoder();
        const convention = this.place.get('convention', own.convention);
        const { rows, columns } = this.#layoutOf();
        const size = { height: String(rows * MERGE), width: String(columns * MERGE) };
        return { ...(convention === own.convention ? own : { ...GRID, convention }), ...size };
    }

    /** The token that is pointed at. */
    #token() {
        const tokens = this.#tokens();
        return tokens[nth(tokens, this.get('at'))];
    }

    /** @param {string} name @param {number} value */
    #choose(name, value) {
        if (this.get(name) === String(value)) return;
        this.keep({ [name]: value });
        this.#follow();
    }

    load() {
        this.convention.show(this.#grid().convention);
        const values = this.#values();
        void this.questions.sequence.ask(
            values,
            (signal) => positionsOf(values, signal),
            (found) => this.#show(found),
        );
        const hide = /** @param {string} name @param {boolean} hidden */ (name, hidden) =>
            this.fields.element.querySelector(`[data-parameter="${name}"]`)?.toggleAttribute('hidden', hidden);
        hide('seconds', !this.#timed());
        hide('frames', this.get('kind') !== 'video');
        const model = this.get('model');
        void this.questions.facts.ask(
            model,
            (signal) => factsOf(model, signal),
            (facts) => {
                this.facts = facts;
                this.update();
            },
        );
        void this.questions.owners.ask(
            model,
            (signal) => pairsOf(model, signal),
            (pairs) => {
                this.pairs = pairs;
                const of = AXES.map((_, axis) => pairs.owner.filter((each) => each === axis).length);
                this.counts.textContent = `${of.join(' + ')} pairs of ${model} are ${2 * pairs.owner.length} channels.`;
                this.#follow();
            },
        );
        this.#follow();
    }

    /** @param {Awaited<ReturnType<typeof positionsOf>>} found */
    #show(found) {
        const tokens = this.#tokens();
        this.found = found;
        this.sequence.show(this.#layoutOf(), tokens, found.axes);
        const next = tokens.length - AFTER.length;
        const [of, position] = [next - BEFORE.length, found.axes[0][next]];
        this.aside.textContent =
            `Here “${AFTER[0]}” is token ${next} and has position ${position}: the picture has ${of} tokens and takes ` +
            `${position - BEFORE.length} positions. A generated token stands at its index plus mrope_position_delta, ` +
            `here ${found.delta}.`.replace('-', '−');
        this.#follow();
    }

    /** Those of the token that is pointed at. */
    #positions() {
        const { token } = this.#token();
        return (this.found?.axes ?? []).map((axis) => axis[token]);
    }

    #turned() {
        return { model: this.get('model'), positions: this.#positions().join(';'), dtype: 'float64' };
    }

    /** What follows the token and the pair that are pointed at. */
    #follow() {
        const { found, pairs } = this;
        const token = this.#token();
        if (found?.axes[0].length !== this.#tokens().length) return;
        this.sequence.mark(token);
        this.#turnGrid(token);
        const model = this.get('model');
        // Pairs of the model before say nothing of this one's.
        if (pairs?.model !== model) return;
        const at = this.#positions();
        void this.questions.turn.ask(
            [model, at, this.get('pair'), token.token],
            (signal) => turnOf(model, at.join(';'), signal),
            (turn) => {
                const pair = nth(pairs.owner, this.get('pair'));
                this.dials.show(pairs.owner, turn, pair);
                this.#explain(token, at, turn, pair, pairs);
            },
        );
    }

    /** @param {Token} token @param {number[]} at @param {Turn} turn @param {number} pair @param {Pairs} pairs */
    #explain({ token, name }, at, { cos, sin }, pair, { owner, frequency }) {
        const axis = owner[pair];
        const turns = Object.entries({ cos, sin }).flatMap(([name, values]) => {
            const turn = call(name, at[axis], '·', digits(frequency[pair], 'float64'));
            return [
                // Formulas do not break; on a narrow screen the value goes to a line of its own.
                [name, h('span', formula(turn), ` = ${digits(values[pair], 'float64')}`)],
                [`bits of ${name}`, hex(values[pair], 'float64')],
            ];
        });
        this.readout.show({
            token: `${token}, ${name}`,
            ...Object.fromEntries(AXES.map((each, i) => [each, at[i]])),
            pair: `${pair}, turned by ${AXES[axis]}`,
            frequency: digits(frequency[pair], 'float64'),
            ...Object.fromEntries(turns),
        });
    }

    /** The dials of the grid stand at the first patch of the token. @param {Token} token */
    #turnGrid({ kind, row, column }) {
        const values = this.#grid();
        const [r, c] = kind === 'patch' ? [row * MERGE, column * MERGE] : [0, 0];
        const { head_dim, convention, height, width } = values;
        const own = this.#encoder() !== GRID && this.#encoder().convention === convention;
        this.patch.textContent =
            `${own ? this.get('model') : convention}: heads of ${head_dim} channels, ${height} × ${width} patches. ` +
            `${kind === 'patch' ? '' : 'A word has no row. '}The hands stand at row ${r}, column ${c}.`;
        if (this.drawn !== null && JSON.stringify(this.drawn.values) === JSON.stringify(values)) {
            const { owner, at } = this.drawn;
            this.sides.show(owner, at(r * Number(width) + c), nth(owner, this.get('pair')));
        }
        void this.questions.grid.ask(
            values,
            (signal) => gridOf(values, signal),
            (grid) => {
                this.drawn = grid;
                this.#follow();
            },
        );
    }
}

export const show = opened(Axes);
