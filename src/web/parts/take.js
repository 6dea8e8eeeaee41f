// take.js - a figure taken along: as a command, as code, as a file, as a frame.
import { address, request } from './api.js';
import { h, put } from './dom.js';
import { moved, read, text as placed } from './place.js';

/**
 * @typedef {object} Source
 * @property {string} path
 * @property {Record<string, string>} values
 * @property {object} [body]
 * @property {{name: string, shape: number[], dtype: string}} tensor the one that is seen
 * @property {boolean} many the answer may have several, and JSON has it by its name
 */

/** A source of numbers. @param {string} path @param {Record<string, string>} values @param {string} [name] of its
 * tensor, where there are several @param {number[]} [shape] where it has more than two axes @returns {Source} */
export function plain(path, values, name, shape = []) {
    const tensor = { name: name ?? 'data', shape, dtype: values.dtype ?? 'float32' };
    return { path, values, tensor, many: name !== undefined };
}

/** A source of numbers that a body asks for. @param {string} path @param {object} body @param {number[]} shape
 * @param {string} [name] @param {string} [dtype] @returns {Source} */
export const posting = (path, body, shape, name = 'data', dtype = 'float64') => {
    const tensor = { name, shape, dtype };
    return { path, values: {}, body, tensor, many: false };
};

const DELAY_MS = 300;
const ALL_TENSORS = ['json', 'safetensors'];

/** The request that gets the source in a format.
 * @param {Source} source @param {string} format @returns {{url: string, body?: object}} */
function asked({ path, values, body, tensor, many }, format) {
    /** @type {Record<string, string>} */
    const how = many && !ALL_TENSORS.includes(format) ? { format, tensor: tensor.name } : { format };
    const origin = location.origin;
    if (body === undefined) return { url: origin + address(path, { ...values, ...how }) };
    return { url: origin + address(path, values), body: { ...body, ...how } };
}

/** Quoted for a shell. @param {string} text */
const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;

/** A text of JSON as a text of Python or JavaScript. @param {object} body */
const literal = (body) => JSON.stringify(JSON.stringify(body));

/** @param {Source} source */
function curl(source) {
    const { url, body } = asked(source, 'json');
    const post = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
    return `curl -sS${post} ${quoted(url)}`;
}

/** Code of Python that reads the answer into `data`. @param {Source} source @param {string} format */
function python(source, format) {
    const { url, body } = asked(source, format);
    const quoted = JSON.stringify(url);
    if (body === undefined) return `from urllib.request import urlopen\n\ndata = urlopen(${quoted}).read()`;
    return `from urllib.request import Request, urlopen

body = ${literal(body)}
data = urlopen(Request(${quoted}, body.encode(), {"Content-Type": "application/json"})).read()`;
}

/** NumPy has no bfloat16 and NPY therefore none: its bits are the upper half of a float32's. @param {Source} source */
function numpy(source) {
    const { shape, dtype } = source.tensor;
    const bits = `(np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(${shape.join(', ')})`;
    const [io, format, array] =
        dtype === 'bfloat16' ? ['', 'raw', bits] : ['import io\n', 'npy', 'np.load(io.BytesIO(data))'];
    return `${io}import numpy as np
${python(source, format)}
array = ${array}
print(array.shape, array.dtype)`;
}

/** @param {Source} source */
function javascript(source) {
    const { url, body } = asked(source, 'json');
    const headers = "{ 'Content-Type': 'application/json' }";
    const init =
        body === undefined ? '' : `, {\n    method: 'POST',\n    headers: ${headers},\n    body: ${literal(body)},\n}`;
    const member = source.many ? `.${source.tensor.name}` : '';
    return `const response = await fetch(${JSON.stringify(url)}${init});
const answer = await response.json();
console.log(answer${member}.shape, answer${member}.data);`;
}

/** The same answer in four languages. @type {Record<string, (source: Source) => string>} */
const LANGUAGES = {
    curl,
    NumPy: numpy,
    PyTorch: (source) => `from safetensors.torch import load
${python(source, 'safetensors')}
tensors = load(data)
print({name: tensor.shape for name, tensor in tensors.items()})`,
    JavaScript: javascript,
};

/** The figure in a frame: the part of the room that it stands in, with its state. @param {string} [part] */
function frame(part) {
    const { room, rest, values } = read();
    const { fig: _, ...others } = values;
    const place = placed(room, rest, part ? { ...others, fig: part } : others);
    return `<iframe src="${location.origin}/?embed=1${place.replace(/"/g, '&quot;')}" width="720" height="480" title="posenc"></iframe>`;
}

const FILES = { NPY: 'npy', CSV: 'csv', safetensors: 'safetensors', PNG: 'png', SVG: 'svg' };

/** Text to be copied, with its name. @param {string} name @param {string} text @param {...Node} notes */
export function block(name, text, ...notes) {
    const code = h('code', text);
    const button = h('button', { type: 'button' }, 'Copy');
    button.addEventListener('click', async () => {
        // Browsers give no clipboard to a page that came without TLS: its text is selected, and copied as by hand.
        if (navigator.clipboard) await navigator.clipboard.writeText(text);
        else {
            getSelection()?.selectAllChildren(code);
            document.execCommand('copy');
        }
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    return h('figure.snippet', { 'data-snippet': name }, [
        h('figcaption', name, button),
        h('pre', { tabindex: 0, role: 'group', 'aria-label': `${name} code` }, code),
        notes,
    ]);
}

/** The panel "Code and files". `source` is asked for when it is opened and when the address changes, so that it is
 * always that of what is seen. @param {() => Source | null} source null: nothing is seen yet */
export function take(source) {
    const out = h('div.take-body');
    const panel = h('details.take', h('summary', 'Code and files'), out);
    const fill = () => {
        const from = panel.open ? source() : null;
        if (from === null) return;
        // The formats of files that can hold the tensor.
        const { dtype, shape } = from.tensor;
        const not = [dtype === 'bfloat16' && 'npy', shape.length > 2 && 'csv'];
        const held = Object.entries(FILES).filter(([, format]) => !not.includes(format));
        const files = held.map(([name, format]) => {
            const { url, body } = asked(from, format);
            if (body === undefined) return h('a', { href: url, download: '' }, name);
            // What an address alone does not name is fetched by POST.
            const onclick = async () => {
                const href = URL.createObjectURL(await (await request(url, { body })).blob());
                h('a', { href, download: `${from.tensor.name}.${format}` }).click();
                URL.revokeObjectURL(href);
            };
            return h('button', { type: 'button', onclick }, name);
        });
        const part = /** @type {HTMLElement | null} */ (panel.closest('.part'))?.dataset.fig;
        put(
            out,
            h('p.files', 'Download: ', files),
            Object.entries(LANGUAGES).map(([name, of]) => block(name, of(from))),
            block('Frame', frame(part)),
        );
    };
    let timer = 0;
    const later = () => {
        clearTimeout(timer);
        if (panel.isConnected) timer = window.setTimeout(fill, DELAY_MS);
        else moved.removeEventListener('moved', later);
    };
    panel.addEventListener('toggle', () => {
        moved.addEventListener('moved', later);
        fill();
    });
    return panel;
}
