// palette.js - the colours of values, those of the service's own figures (palette.c): blue below zero, white at zero,
// red above.
//
// The arms have equal lightness at equal distance from zero, so that the scale reads the same without hue.
import { h } from './dom.js';
import { brief } from './number.js';

const BLUE = [
    0xffffff, 0xeaf4ff, 0xd5e9ff, 0xc1deff, 0xacd2ff, 0x99c7ff, 0x85bbff, 0x73b0fd, 0x61a4f8, 0x5098f1, 0x3f8cea,
    0x2e80e0, 0x1d75d6, 0x0969ca, 0x005ebe, 0x0053b2, 0x0048a6,
];
const RED = [
    0xffffff, 0xffeeec, 0xffddd8, 0xffccc6, 0xffbcb3, 0xfdaba1, 0xf99b90, 0xf38b80, 0xed7b70, 0xe56c62, 0xdb5e54,
    0xd14f47, 0xc6423b, 0xba3530, 0xad2825, 0xa0191a, 0x94020d,
];
const TEAL = [
    0xffffff, 0xeaf3f2, 0xd6e8e6, 0xc1dcda, 0xadd0cd, 0x99c5c1, 0x86b9b5, 0x73ada9, 0x61a19d, 0x4f9591, 0x3d8984,
    0x2b7d78, 0x17716d, 0x006561, 0x005955, 0x004d4a, 0x00423e,
];
const STEPS = 256;
const LEGEND_WIDTH = 129;

/** Bytes of a colour along stops. @param {number[]} stops @param {number} t from 0 to 1 */
function along(stops, t) {
    const place = t * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(place));
    const part = place - stop;
    return [16, 8, 0].map((shift) =>
        Math.round(((stops[stop] >> shift) & 255) * (1 - part) + ((stops[stop + 1] >> shift) & 255) * part),
    );
}

/** A little-endian RGBA word. @param {number[]} rgb */
export const word = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** @param {(i: number) => number[]} colour @param {number} n */
const words = (colour, n) => Uint32Array.from({ length: n }, (_, i) => word(colour(i)));

const DIVERGING = words((i) => along(i < STEPS ? BLUE : RED, Math.abs(i - STEPS) / STEPS), 2 * STEPS + 1);
const SEQUENTIAL = words((i) => along(TEAL, i / (2 * STEPS)), 2 * STEPS + 1);

/**
 * Which values have which colours.
 * @typedef {object} Scale
 * @property {number} from
 * @property {number} to
 * @property {boolean} signed blue to red, or the blue half; else white to dark
 */

/** The least round number (1, 2, 5, times a power of ten) that is not below a positive value. @param {number} value */
function rounded(value) {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
    return power * ([1, 2, 5, 10].find((step) => step * power >= value * (1 - 1e-9)) ?? 10);
}

/** The scale of values between two bounds, by the rule of the service's figures. Indices take all of it.
 * @param {number} least @param {number} most @param {string} [dtype] @returns {Scale} */
export function scaleOf(least, most, dtype) {
    if (!(least <= most)) return { from: -1, to: 1, signed: true };
    if (dtype === 'int32') return { from: least, to: most, signed: false };
    if (least >= 0 && most > 1) return { from: 0, to: rounded(most), signed: false };
    const size = Math.max(Math.abs(least), Math.abs(most));
    const end = size === 0 || (size > 0.25 && size <= 1) ? 1 : rounded(size);
    return { from: -end, to: most <= 0 && end > 1 ? 0 : end, signed: true };
}

/** The word of each value; what is no number or infinite has the word `none`. @param {Scale} scale
 * @param {number} none @returns {(value: number) => number} */
export function painter({ from, to, signed }, none) {
    const all = signed ? DIVERGING : SEQUENTIAL;
    const factor = (signed && to === 0 ? STEPS : 2 * STEPS) / (to - from || 1);
    return (value) => {
        const i = Math.round((value - from) * factor);
        if (!(i > -1e9 && i < 1e9)) return none;
        return all[i < 0 ? 0 : i > 2 * STEPS ? 2 * STEPS : i];
    };
}

/** @param {number[]} stops @param {number} t */
const css = (stops, t) => `rgb(${along(stops, Math.min(1, t)).join(' ')})`;

/** The diverging colour of a value from -1 to 1, for CSS. @param {number} t */
export const colour = (t) => css(t < 0 ? BLUE : RED, Math.abs(t));

/** The sequential colour of a value from 0 to 1, for CSS. @param {number} t */
export const tint = (t) => css(TEAL, t);

/** Which colour stands for which value. @param {Scale} first @param {string} [unit] what the values are */
export function legend(first, unit) {
    const bar = h('canvas.legend-bar', { width: LEGEND_WIDTH, height: 1, role: 'img' });
    const low = h('span');
    const high = h('span');
    let shown = '';
    const show = /** @param {Scale} scale */ (scale) => {
        const { from, to, signed } = scale;
        if (shown === `${from} ${to} ${signed}`) return;
        shown = `${from} ${to} ${signed}`;
        const paint = painter(scale, 0);
        const image = new ImageData(LEGEND_WIDTH, 1);
        new Uint32Array(image.data.buffer).set(
            Array.from({ length: LEGEND_WIDTH }, (_, i) => paint(from + (i / (LEGEND_WIDTH - 1)) * (to - from))),
        );
        bar.getContext('2d')?.putImageData(image, 0, 0);
        low.textContent = brief(from);
        high.textContent = brief(to);
        const [first, last] = !signed ? ['White', 'dark'] : ['Blue', to > 0 ? 'white is 0, red' : 'white'];
        bar.setAttribute('aria-label', `${first} is ${low.textContent}, ${last} is ${high.textContent}.`);
    };
    show(first);
    return { element: h('div.legend', low, bar, high, unit && h('span.note', unit)), show };
}
