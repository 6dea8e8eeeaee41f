// take.js - a figure taken along: as a command, as code, as a file, as a frame.
import { address } from './api.js';
import { h } from './dom.js';

/** @typedef {{path: string, values: Record<string, string>, body?: unknown, tensor?: string, many: boolean}} Source
 * many: the answer has several tensors, of which a format of one needs `tensor` */
/** @typedef {{name: string, text: string}} Snippet */

/** @param {Source} source @param {string} format */
function url({ path, values, tensor, many }, format) {
    const one = { ...values, format };
    return (
        location.origin +
        address(
            path,
            many && tensor !== undefined && !['json', 'safetensors'].includes(format) ? { ...one, tensor } : one,
        )
    );
}

/** Quoted for a shell. @param {string} text */
const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;

/** The request of a snippet in Python. @param {Source} source @param {string} format */
function python(source, format) {
    if (source.body === undefined) return `urlopen(${JSON.stringify(url(source, format))})`;
    return `urlopen(Request(${JSON.stringify(url(source, format))}, ${JSON.stringify(JSON.stringify(source.body))}.encode(),
    {"Content-Type": "application/json"}))`;
}

/** @param {Source} source */
function imports(source) {
    return `from urllib.request import ${source.body === undefined ? 'urlopen' : 'Request, urlopen'}`;
}

/**
 * The same answer in four languages.
 * @param {Source} source
 * @returns {Snippet[]}
 */
export function snippets(source) {
    const { body, tensor, many } = source;
    const post = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
    const init =
        body === undefined
            ? ''
            : `, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: ${JSON.stringify(JSON.stringify(body))},
}`;
    const member = many ? `.${tensor}` : '';
    return [
        { name: 'curl', text: `curl -sS${post} ${quoted(url(source, 'json'))}` },
        {
            name: 'NumPy',
            text: `import io
${imports(source)}
import numpy as np

data = ${python(source, 'npy')}.read()
array = np.load(io.BytesIO(data))
print(array.shape, array.dtype)`,
        },
        {
            name: 'PyTorch',
            text: `${imports(source)}
from safetensors.torch import load

tensors = load(${python(source, 'safetensors')}.read())
print({name: tensor.shape for name, tensor in tensors.items()})`,
        },
        {
            name: 'JavaScript',
            text: `const response = await fetch(${JSON.stringify(url({ ...source, tensor: undefined }, 'json'))}${init});
const answer = await response.json();
console.log(answer${member}.shape, answer${member}.data);`,
        },
    ];
}

/** @param {string} [place] */
function frame(place = location.hash) {
    return `<iframe src="${location.origin}/?embed=1${place.replace(/"/g, '&quot;')}" width="720" height="480" title="posenc"></iframe>`;
}

const FILES = [
    ['NPY', 'npy'],
    ['CSV', 'csv'],
    ['safetensors', 'safetensors'],
    ['PNG', 'png'],
    ['SVG', 'svg'],
];

/** Fetches by POST what an address alone does not name. @param {Source} source @param {string} format */
async function save(source, format) {
    const { request } = await import('./api.js');
    const response = await request(url(source, format), { body: source.body });
    const link = h('a', {
        href: URL.createObjectURL(await response.blob()),
        download: `${source.tensor ?? 'answer'}.${format}`,
    });
    link.click();
    URL.revokeObjectURL(link.href);
}

/**
 * The panel "Take it along". `source` is asked for when it is opened, so that it is always that of what is seen.
 * @param {() => Source} source
 * @param {string[]} formats names that the server has
 */
export function take(source, formats) {
    const out = h('div', { class: 'take-body' });
    const panel = h('details', { class: 'take' }, h('summary', {}, 'Take it along'), out);
    const copy = /** @param {string} text */ (text) => {
        const button = h('button', { type: 'button' }, 'Copy');
        button.addEventListener('click', async () => {
            await navigator.clipboard.writeText(text);
            button.textContent = 'Copied';
            setTimeout(() => (button.textContent = 'Copy'), 1500);
        });
        return button;
    };
    const block = /** @param {Snippet} snippet */ ({ name, text }) =>
        h(
            'figure',
            { class: 'snippet', 'data-snippet': name },
            h('figcaption', {}, name, copy(text)),
            h('pre', { tabindex: 0, role: 'region', 'aria-label': `${name} code` }, h('code', {}, text)),
        );
    const fill = () => {
        if (!panel.open) return;
        const from = source();
        const files = FILES.filter(([, format]) => formats.includes(format)).map(([name, format]) =>
            from.body === undefined
                ? h('a', { href: url(from, format), download: '' }, name)
                : h('button', { type: 'button', onclick: () => void save(from, format) }, name),
        );
        out.replaceChildren(
            h('p', { class: 'files' }, 'Download: ', files),
            ...snippets(from).map(block),
            block({ name: 'Frame', text: frame() }),
        );
    };
    panel.addEventListener('toggle', fill);
    return { element: panel, refresh: fill };
}
