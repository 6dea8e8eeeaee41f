// legend.js - which colour stands for which value.
import { h } from './dom.js';
import { brief } from './number.js';
import { painter } from './palette.js';

const WIDTH = 129;

/** @param {import('./palette.js').Scale} first @param {string} [unit] what the values are */
export function legend(first, unit) {
    const bar = h('canvas.legend-bar', { width: WIDTH, height: 1, role: 'img' });
    const low = h('span');
    const high = h('span');
    let shown = '';
    const show = /** @param {import('./palette.js').Scale} scale */ (scale) => {
        const { from, to, signed } = scale;
        if (shown === `${from} ${to} ${signed}`) return;
        shown = `${from} ${to} ${signed}`;
        const paint = painter(scale, 0);
        const image = new ImageData(WIDTH, 1);
        new Uint32Array(image.data.buffer).set(
            Array.from({ length: WIDTH }, (_, i) => paint(from + (i / (WIDTH - 1)) * (to - from))),
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
