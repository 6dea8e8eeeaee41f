// buckets.js - colours and a legend for maps of whole numbers: which cells share a bucket.
import { choice } from '../parts/controls.js';
import { h, put } from '../parts/dom.js';
import { painter, tint } from '../parts/palette.js';

// Cells that are counted, and those of one request.
const READ_MAX = 1 << 22;
const READ_ONCE = 1 << 18;
const FAINT = 0.12;
const LEAST = 0.2;
// Every other bucket is paler, so that neighbours can be told apart.
const ODD = 0.7;
// More buckets than these are no chips: one is found by its number.
const CHIPS_MAX = 48;

/** How dark the colour of a bucket is. @param {number} value @param {number} low @param {number} high */
function tone(value, low, high) {
    const deep = LEAST + ((1 - LEAST) * (value - low)) / (high - low || 1);
    return value % 2 === 0 ? deep : deep * ODD;
}

export class Buckets {
    /** @param {(bucket: number | null) => void} change a bucket is chosen, or none */
    constructor(change) {
        this.change = change;
        /** @private */ this.chips = h('div.buckets', { role: 'group', 'aria-label': 'Buckets' });
        /** @private */ this.many = choice('bucket', [], (bucket) => change(bucket === '' ? null : Number(bucket)));
        this.element = h('div', { 'data-buckets': true }, this.chips, this.many);
        this.words = h('p.note', { role: 'status' });
        /** @private @type {number[]} */ this.list = [];
        /** @private @type {number | null} */ this.chosen = null;
        /** How many cells a bucket has, and where the first of them is. @private @type {Map<number, {count: number, first: number}>} */
        this.found = new Map();
        /** @private */ this.size = { rows: 0, columns: 1, read: 0 };
    }

    /** @param {import('../parts/safetensors.js').Tensor} tensor @param {AbortSignal} [signal] */
    async read(tensor, signal) {
        const { rows, columns } = tensor;
        const read = Math.min(rows, Math.max(1, Math.floor(READ_MAX / columns)));
        const step = Math.max(1, Math.floor(READ_ONCE / columns));
        /** @type {Buckets['found']} */
        const found = new Map();
        for (let row = 0; row < read; row += step)
            (await tensor.read(row, Math.min(step, read - row), signal)).forEach((cell, i) => {
                const { count, first } = found.get(cell) ?? { count: 0, first: row * columns + i };
                found.set(cell, { count: count + 1, first });
            });
        // Those that the last row alone has are listed, too.
        const last = read < rows ? Array.from(await tensor.read(rows - 1, 1, signal)) : [];
        this.found = found;
        this.size = { rows, columns, read };
        this.list = [...new Set([...found.keys(), ...last])].sort((a, b) => a - b);
        const titles = this.list.map((bucket) => ({ value: String(bucket), title: String(bucket) }));
        this.many.offer?.([{ value: '', title: 'all' }, ...titles]);
    }

    get #ends() {
        return [this.list[0] ?? 0, this.list[this.list.length - 1] ?? 0];
    }

    /** What a heatmap paints by. @type {NonNullable<import('../parts/heatmap.js').Options['paint']>} */
    paint = (none) => {
        const [low, high] = this.#ends;
        const word = painter({ from: 0, to: 1, signed: false }, none);
        const { chosen } = this;
        return {
            key: `buckets ${low} ${high} ${chosen}`,
            paint: (value) => {
                const t = tone(value, low, high);
                if (chosen === null) return word(t);
                return word(value === chosen ? 1 : FAINT * t);
            },
        };
    };

    /** @param {number | null} chosen */
    show(chosen) {
        this.chosen = chosen !== null && this.list.includes(chosen) ? chosen : null;
        const [low, high] = this.#ends;
        const button = /** @param {number} bucket */ (bucket) => {
            const swatch = h('span.swatch');
            swatch.style.setProperty('background', tint(tone(bucket, low, high)));
            const pressed = bucket === this.chosen;
            const onclick = () => this.change(pressed ? null : bucket);
            const how = { type: 'button', 'aria-pressed': pressed, 'data-bucket': bucket, onclick };
            return h('button', how, swatch, bucket);
        };
        const focused = document.activeElement?.getAttribute('data-bucket');
        const many = this.list.length > CHIPS_MAX;
        this.chips.hidden = many;
        this.many.element.hidden = !many;
        put(this.chips, many ? [] : this.list.map(button));
        this.many.show(this.chosen === null ? '' : String(this.chosen));
        if (focused)
            /** @type {HTMLElement | null} */ (this.chips.querySelector(`[data-bucket="${focused}"]`))?.focus();
        const { rows, columns, read } = this.size;
        const all = `${this.list.length} buckets are in use, from ${low} to ${high}. Choose one to see its cells.`;
        const { count, first } = this.found.get(this.chosen ?? NaN) ?? { count: 0, first: 0 };
        const [held, cells] = [count, read * columns].map((n) => n.toLocaleString('en'));
        const where = count === 0 ? '' : `; the first is query ${Math.floor(first / columns)}, key ${first % columns}`;
        const one = `Bucket ${this.chosen} has ${held} of ${cells} cells${where}.`;
        const counted = read < rows ? ` Counted are the first ${read} of ${rows} rows.` : '';
        this.words.textContent = (this.chosen === null ? all : one) + counted;
    }
}
