// docs.js - the reference at /docs: every operation of /openapi.json, with a form that sends it.
import { fresh, h } from './parts/dom.js';

/** @typedef {{$ref?: string, type?: string | string[], description?: string, enum?: unknown[], default?: unknown,
 * examples?: unknown[], items?: Schema, properties?: Record<string, Schema>, required?: string[]}} Schema */
/** @typedef {{name: string, in: 'query' | 'header' | 'path', description?: string, required?: boolean, example?:
 * unknown, schema: Schema}} Parameter */
/** @typedef {{schema: Schema, example?: unknown}} Content */
/** @typedef {{$ref?: string, description: string, content?: Record<string, Content>}} Answer */
/** @typedef {{operationId: string, tags: string[], summary: string, description?: string, parameters?: Parameter[],
 * requestBody?: {content: Record<string, Content>}, responses: Record<string, Answer>}} Operation */
/** @typedef {{parameter: Parameter, input: HTMLInputElement}} Field */

const TEXT_MAX = 20000;
const ROWS_MAX = 16;

/** @type {any} */
let contract = null;

/** What a reference refers to. @template T @param {T & {$ref?: string}} node @returns {T} */
function resolved(node) {
    if (node.$ref === undefined) return node;
    return node.$ref
        .slice(2)
        .split('/')
        .reduce((part, key) => part[key], contract);
}

/** @param {unknown} value */
function text(value) {
    if (value === undefined) return '';
    if (Array.isArray(value)) return value.join(',');
    // An object of query parameters, each under its own name.
    return value instanceof Object ? String(new URLSearchParams(Object.entries(value))) : String(value);
}

/** Words with `code` in them. @param {string} words */
function inline(words) {
    return words.split('`').map((part, i) => (i % 2 === 1 ? h('code', part) : part));
}

/** The Markdown of the contract: paragraphs and lists, with code. @param {string} words */
function prose(words) {
    return words.split('\n\n').map((block) => {
        const rows = block.split(/^- /m).slice(1);
        return rows.length === 0 ? h('p', inline(block)) : h('ul', [rows.map((row) => h('li', inline(row)))]);
    });
}

/** What may be typed, in words; the schema tells where the parameter does not.
 * @param {{description?: string, schema: Schema}} parameter */
function hint({ schema, description = resolved(schema).description }) {
    const { enum: choices, default: preset } = resolved(schema);
    const list = choices === undefined ? '' : ` One of ${choices.join(', ')}.`;
    return `${description ?? ''}${list}${preset === undefined ? '' : ` Default: ${preset}.`}`;
}

/** @param {Parameter} parameter */
function field(parameter) {
    const { name, schema, required, example } = parameter;
    const id = fresh('field');
    const { enum: choices, default: preset } = resolved(schema);
    const input = h('input', {
        ...{ id, name, required, value: text(example), placeholder: text(preset) },
        ...{ autocomplete: 'off', spellcheck: 'false', 'aria-describedby': `${id}-hint` },
        list: choices && `${id}-choices`,
    });
    const options = choices?.map((choice) => h('option', { value: choice }));
    const element = h('div.field', [
        h('label', { for: id }, name, required ? ' (required)' : ''),
        input,
        options && h('datalist', { id: `${id}-choices` }, options),
        h('small', { id: `${id}-hint` }, inline(hint(parameter))),
    ]);
    return { parameter, input, element };
}

/** "array of integer", "number or null"; several types have no name. @param {Schema} schema @returns {string} */
function kind({ type, items }) {
    if (type === undefined) return items === undefined ? '' : 'value or array';
    const each = items === undefined ? '' : kind(resolved(items));
    return [type].flat().join(' or ') + (each === '' ? '' : ` of ${each}`);
}

/** @param {Content | undefined} json @returns {[string, Schema][]} */
function membersOf(json) {
    return json === undefined ? [] : Object.entries(resolved(json.schema).properties ?? {});
}

/** A list of what is told under a heading. @param {string} title @param {Element[][]} rows */
const told = (title, rows) => (rows.length === 0 ? null : h('div.told', h('h3', title), h('dl', rows)));

/** The request that the form describes. @param {string} path @param {Field[]} fields @param {string | undefined} body */
function asked(path, fields, body) {
    const query = new URLSearchParams();
    const headers = new Headers(body === undefined ? {} : { 'Content-Type': 'application/json' });
    let target = path;
    for (const { parameter, input } of fields) {
        const value = input.value.trim();
        if (parameter.in === 'path') target = target.replace(`{${parameter.name}}`, encodeURIComponent(value));
        else if (value === '') continue;
        else if (parameter.in === 'header') headers.set(parameter.name, value);
        else if (parameter.name === 'parameters') new URLSearchParams(value).forEach((v, k) => query.append(k, v));
        else query.append(parameter.name, value);
    }
    const after = query.size === 0 ? '' : `?${query}`;
    return { target: target + after, options: { method: body === undefined ? 'GET' : 'POST', headers, body } };
}

/** @param {Response} response */
async function content(response) {
    const kind = response.headers.get('Content-Type') ?? '';
    const blob = await response.blob();
    if (kind.startsWith('image/'))
        return h('img', { src: URL.createObjectURL(blob), alt: 'The figure that the service answered.' });
    if (!/json|text|yaml/.test(kind))
        return h('a', { href: URL.createObjectURL(blob), download: 'answer' }, `Save ${blob.size} bytes of ${kind}`);
    const words = await blob.text();
    const more = words.length > TEXT_MAX ? `\n… ${words.length} characters in all` : '';
    return h('pre', { tabindex: 0, 'aria-label': 'Answer' }, words.slice(0, TEXT_MAX) + more);
}

/** The form of an operation, with what its body may hold and what may be answered.
 * @param {string} path @param {Operation} operation @param {Parameter[]} parameters */
function form(path, operation, parameters) {
    const fields = parameters.map(field);
    const json = operation.requestBody?.content['application/json'];
    const { required = [], examples = [] } = json === undefined ? {} : resolved(json.schema);
    const example = JSON.stringify(json?.example ?? examples[0] ?? {}, null, 2);
    const rows = Math.min(ROWS_MAX, example.split('\n').length);
    const id = fresh('body');
    const body = json && h('textarea', { id, name: 'body', rows, spellcheck: 'false' }, example);
    const members = membersOf(json).map(([name, schema]) => [
        h('dt', h('code', name), ` ${kind(resolved(schema))}${required.includes(name) ? ', required' : ''}`),
        h('dd', inline(hint({ schema }))),
    ]);
    const answers = Object.entries(operation.responses).map(([status, answer]) => {
        const { description, content: kinds = {} } = resolved(answer);
        const media = Object.keys(kinds).map((name, i) => (i === 0 ? ` ${name}` : `, ${name}`));
        return [h('dt', h('code', status), media), h('dd', prose(description))];
    });
    const host = h('div.answer', { role: 'region', 'aria-live': 'polite', 'aria-label': `Answer of ${path}` });
    const element = h('form', { id: `form-${operation.operationId}` }, [
        h('div', [
            h('div.told', prose(operation.description ?? '')),
            h('p.note', `In clients: ${operation.operationId}`),
            body && h('div.field', h('label', { for: id }, 'JSON body'), body),
            fields,
            h('p', h('button.button', { type: 'submit' }, 'Send')),
        ]),
        h('div', host, told('Members', members), told('Answers', answers)),
    ]);
    element.addEventListener('submit', async (event) => {
        event.preventDefault();
        const { target, options } = asked(path, fields, body?.value);
        host.replaceChildren(h('p', 'Waiting …'));
        try {
            const response = await fetch(target, options);
            const { status, statusText, headers } = response;
            const line = `${status} ${statusText}, ${headers.get('Content-Type') ?? 'no content'}`;
            const shown = h('code', `${options.method} ${target}`);
            host.replaceChildren(h('p', shown), h('p.status', line), await content(response));
        } catch (error) {
            host.replaceChildren(h('p', `The service did not answer: ${error}`));
        }
    });
    return element;
}

/** @param {string} path @param {string} method @param {Operation} operation @param {Parameter[]} shared */
function entry(path, method, operation, shared) {
    const parameters = [...shared, ...(operation.parameters ?? [])].map((each) => resolved(each));
    const element = h('details.operation', { id: operation.operationId }, [
        h('summary', h('code', `${method.toUpperCase()} ${path}`), ` ${operation.summary}`),
    ]);
    // A form is made when it is wanted: there are thousands of fields.
    const open = () => {
        if (element.children.length === 1) element.append(form(path, operation, parameters));
        element.open = true;
    };
    element.addEventListener('toggle', () => element.open && open());
    const values = [
        ...parameters.map(({ name, schema }) => /** @type {[string, Schema]} */ ([name, schema])),
        ...membersOf(operation.requestBody?.content['application/json']),
    ].map(([name, schema]) => `${name} ${resolved(schema).enum?.join(' ') ?? ''}`);
    const replies = Object.entries(operation.responses).map(([status, answer]) => {
        const { description, content: kinds = {} } = resolved(answer);
        return [status, ...(description.match(/\b[1-5]\d\d\b/g) ?? []), ...Object.keys(kinds)].join(' ');
    });
    const words = [method, path, operation.operationId, operation.summary, ...values, ...replies].join(' ');
    const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    return { element, open, pattern, words: words.toLowerCase(), tag: operation.tags[0] };
}

/** Show what the words of the search are in. @param {ReturnType<typeof entry>[]} all */
function search(all) {
    const words = /** @type {HTMLInputElement} */ (document.getElementById('search')).value.toLowerCase().split(/\s+/);
    for (const each of all) each.element.hidden = !words.every((word) => each.words.includes(word));
    for (const section of document.querySelectorAll('section'))
        section.hidden = section.querySelector('.operation:not([hidden])') === null;
    const n = all.filter((each) => !each.element.hidden).length;
    /** @type {HTMLElement} */ (document.getElementById('found')).textContent = `${n} operations`;
}

/** Open the operation that the fragment names. */
function follow() {
    const named = document.getElementById(location.hash.slice(1));
    if (named instanceof HTMLDetailsElement) named.open = true;
    named?.scrollIntoView();
}

async function main() {
    contract = await (await fetch('/openapi.json')).json();
    const all = Object.entries(contract.paths).flatMap(([path, item]) =>
        ['get', 'post']
            .filter((method) => method in item)
            .map((method) => entry(path, method, item[method], item.parameters ?? [])),
    );
    document.getElementById('about')?.append(...prose(contract.info.description));
    for (const { name, description } of contract.tags) {
        const operations = all.filter((each) => each.tag === name);
        const head = [h('h2', name.replaceAll('_', ' ')), h('p.note', description)];
        document.getElementById('operations')?.append(h('section', { id: `of-${name}` }, head, operations));
        document.getElementById('tags')?.append(h('a', { href: `#of-${name}` }, name), ' ');
    }
    document.getElementById('search')?.addEventListener('input', () => search(all));
    addEventListener('hashchange', follow);
    search(all);
    follow();
    // Browsers get this page for other addresses, too, in place of JSON: what they ask for is sent and shown.
    const asked = all.find(({ pattern }) => location.pathname !== '/docs' && pattern.test(location.pathname));
    asked?.open();
    for (const [name, value] of Object.entries(asked?.pattern.exec(location.pathname)?.groups ?? {}))
        asked?.element.querySelector(`[name="${name}"]`)?.setAttribute('value', decodeURIComponent(value));
    asked?.element.querySelector('form')?.requestSubmit();
    asked?.element.scrollIntoView();
}

void main();
