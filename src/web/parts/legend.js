// legend.js - which colour stands for which value.
import { h } from './dom.js';
import { brief } from './number.js';
import { painter } from './palette.js';

const WIDTH = 129;

/** @param {number} limit */
export function legend(limit) {
    const bar = h('canvas', { class: 'legend-bar', width: WIDTH, height: 1, role: 'img' });
    const low = h('span');
    const high = h('span');
    const image = new ImageData(WIDTH, 1);
    const paint = painter(1, 0);
    new Uint32Array(image.data.buffer).set(Array.from({ length: WIDTH }, (_, i) => paint((2 * i) / (WIDTH - 1) - 1)));
    bar.getContext('2d')?.putImageData(image, 0, 0);
    const show = /** @param {number} value */ (value) => {
        low.textContent = brief(-value);
        high.textContent = brief(value);
        bar.setAttribute('aria-label', `Blue is ${low.textContent}, white is 0, red is ${high.textContent}.`);
    };
    show(limit);
    return { element: h('div', { class: 'legend' }, low, bar, high), show };
}
