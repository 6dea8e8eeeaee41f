// buckets.js - colours and a legend for maps of whole numbers: which cells share a bucket.
import { h } from '../parts/dom.js';
import { colour, painter, scaleOf } from '../parts/palette.js';

/** @typedef {import('../parts/safetensors.js').Tensor} Tensor */

const READ_MAX = 1 << 20;
const LEGEND_MAX = 96;
const FAINT = 0.12;
const LEAST = 0.2;
// Every other bucket is paler, so that neighbours can be told apart.
const ODD = 0.7;

/** The colour of a bucket as a number from -1 to 1: those of either half on one side of white.
 * @param {number} value @param {number} low @param {number} high */
function tone(value, low, high) {
    const t = high === low ? 0 : (2 * (value - low)) / (high - low) - 1;
    const deep = Math.sign(t) * (LEAST + (1 - LEAST) * Math.abs(t));
    return value % 2 === 0 ? deep : deep * ODD;
}

/** Its numbers, or those of the first and the last row of a large one. @param {Tensor} tensor @param {AbortSignal} [signal] */
async function sample(tensor, signal) {
    if (tensor.length <= READ_MAX) return tensor.all(signal);
    const ends = await Promise.all([tensor.read(0, 1, signal), tensor.read(tensor.rows - 1, 1, signal)]);
    return ends.flatMap((row) => Array.from(row));
}

export class Buckets {
    /** @param {(bucket: number | null) => void} change a bucket is chosen, or none */
    constructor(change) {
        this.change = change;
        this.element = h('div', { class: 'buckets', role: 'group', 'aria-label': 'Buckets' });
        this.words = h('p', { class: 'note', role: 'status' });
        /** @private @type {number[]} */ this.list = [];
        /** @private @type {number | null} */ this.chosen = null;
        /** @private @type {ArrayLike<number>} */ this.cells = [];
        /** @private */ this.columns = 1;
    }

    /** @param {Tensor} tensor @param {AbortSignal} [signal] */
    async read(tensor, signal) {
        this.cells = await sample(tensor, signal);
        this.columns = tensor.columns;
        this.list = [...new Set(Array.from(this.cells))].sort((a, b) => a - b);
    }

    /** @private */
    get ends() {
        return [this.list[0] ?? 0, this.list[this.list.length - 1] ?? 0];
    }

    /** What a heatmap paints by. @type {NonNullable<import('../parts/heatmap.js').Options['paint']>} */
    paint = (none) => {
        const [low, high] = this.ends;
        const word = painter(scaleOf(-1, 1), none);
        const { chosen } = this;
        return {
            key: `buckets ${low} ${high} ${chosen}`,
            paint: (value) => {
                const t = tone(value, low, high);
                if (chosen === null) return word(t);
                return word(value === chosen ? Math.sign(t) || 1 : FAINT * t);
            },
        };
    };

    /** @param {number | null} chosen */
    show(chosen) {
        this.chosen = chosen !== null && this.list.includes(chosen) ? chosen : null;
        const [low, high] = this.ends;
        const shown = this.list.slice(0, LEGEND_MAX);
        const button = /** @param {number} bucket */ (bucket) => {
            const swatch = h('span', { class: 'swatch' });
            swatch.style.setProperty('background', colour(tone(bucket, low, high)));
            const pressed = bucket === this.chosen;
            return h(
                'button',
                {
                    type: 'button',
                    'aria-pressed': pressed,
                    'data-bucket': bucket,
                    onclick: () => this.change(pressed ? null : bucket),
                },
                swatch,
                bucket,
            );
        };
        const focused = document.activeElement?.getAttribute('data-bucket');
        this.element.replaceChildren(...shown.map(button));
        if (focused)
            /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-bucket="${focused}"]`))?.focus();
        const rest = this.list.length > shown.length ? ` The first ${shown.length} are listed.` : '';
        this.words.textContent =
            this.chosen === null
                ? `${this.list.length} buckets are in use, from ${low} to ${high}. Choose one to see its cells.${rest}`
                : this.held(this.chosen);
    }

    /** How many cells a bucket has. @private @param {number} bucket */
    held(bucket) {
        let [count, first] = [0, -1];
        for (let i = 0; i < this.cells.length; i++)
            if (this.cells[i] === bucket) {
                count++;
                if (first < 0) first = i;
            }
        const [row, column] = [Math.floor(first / this.columns), first % this.columns];
        return `Bucket ${bucket} has ${count.toLocaleString('en')} of ${this.cells.length.toLocaleString('en')} cells; the first is query ${row}, key ${column}.`;
    }
}
