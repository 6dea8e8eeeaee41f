// any.js - any resource of the listing: controls from its rows, and a picture of whatever it answers.
import { Problem, address, answer, parameterOf } from '../parts/api.js';
import { form } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { Figure } from '../parts/figure.js';
import { find, initial, needed } from '../parts/listing.js';
import { search } from '../parts/search.js';
import { parametersOf } from './catalogue.js';

/** @typedef {import('../parts/listing.js').Resource} Resource */
/** @typedef {import('./rooms.js').Context} Context */

const FIRST = 'sinusoidal';
// What the address holds beside the parameters of the resource.
const OWN = ['win', 'at', 'slice', 'tensor', 'colours'];
const DELAY_MS = 120;

/** The value of a body's member: JSON where the text is that. @param {string} text */
function member(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

/** The parameters as the request gives them: those that were chosen, and examples of those that it needs.
 * @param {Resource} resource @param {Record<string, string>} chosen */
function given(resource, chosen) {
    const values = Object.fromEntries(Object.entries(chosen).filter(([name]) => !OWN.includes(name)));
    for (const parameter of resource.parameters)
        if (
            needed(parameter) &&
            values[parameter.name] === undefined &&
            (parameter.required || values.model === undefined)
        )
            values[parameter.name] = initial(parameter);
    // Where one of several arrays is enough, none is required: the first is an example.
    const arrays = resource.parameters.filter(({ type }) => type === 'tensor');
    if (arrays[0]?.example && arrays.every(({ name }) => values[name] === undefined))
        values[arrays[0].name] = arrays[0].example;
    return values;
}

/** @param {Resource} resource @param {Record<string, string>} values */
function target(resource, values) {
    const named = resource.path.match(/\{(\w+)\}/)?.[1];
    const path =
        named === undefined ? resource.path : resource.path.replace(/\{\w+\}/, encodeURIComponent(values[named] ?? ''));
    const rest = Object.fromEntries(Object.entries(values).filter(([name]) => name !== named));
    if (resource.methods.includes('GET')) return { path, values: rest, body: undefined };
    return {
        path,
        values: {},
        body: Object.fromEntries(Object.entries(rest).map(([name, text]) => [name, member(text)])),
    };
}

/** Examples of what a refusal is about and the request left out; null where there are none.
 * @param {Resource} resource @param {unknown} error @param {Record<string, string>} values */
function examples(resource, error, values) {
    if (!(error instanceof Problem)) return null;
    const about = error.errors.map((fault) => parameterOf(fault));
    const found = resource.parameters.filter(
        ({ name, example }) => about.includes(name) && example && values[name] === undefined,
    );
    return found.length === 0 ? null : Object.fromEntries(found.map(({ name, example }) => [name, String(example)]));
}

/** Ask, and where the server misses what others have made necessary, ask with examples of it.
 * @param {Resource} resource @param {Record<string, string>} values to which examples are added @param {AbortSignal} signal */
async function ask(resource, values, signal) {
    for (;;) {
        const wanted = target(resource, values);
        try {
            return { wanted, found: await answer(wanted.path, wanted.values, { signal, body: wanted.body }) };
        } catch (error) {
            const more = examples(resource, error, values);
            if (more === null) throw error;
            Object.assign(values, more);
        }
    }
}

/** The list of resources. @param {Context} context @param {string} path */
function picker({ listing, go }, path) {
    const { parts, offer, show: choose } = search('resource', (chosen) => go('any', chosen.replace('/v1/', '')));
    offer(listing.encodings.map((resource) => ({ value: resource.path, title: resource.path })));
    choose(path);
    return h('div', { class: 'control picker' }, h('label', { for: 'resource', class: 'name' }, 'resource'), parts);
}

/** @param {import('../parts/safetensors.js').Answer} found @param {ReturnType<typeof target>} wanted @param {Context} context @param {Figure | null} before */
function drawn(found, wanted, { place, fail }, before) {
    const title = address(wanted.path, wanted.values);
    return new Figure(found, { ...wanted, title, place, onError: fail, before });
}

/** What is set at the left, what is seen at the right. @param {Resource} resource @param {HTMLElement[]} controls @param {HTMLElement} picture */
function layout(resource, controls, picture) {
    const source = h(
        'details',
        { class: 'source' },
        h('summary', {}, 'Formula and source'),
        h('p', { class: 'code' }, resource.formula),
        h('p', {}, resource.source),
    );
    return [
        ...controls,
        h(
            'section',
            { class: 'stage', 'aria-label': 'Answer' },
            h('h1', { class: 'lead' }, resource.summary),
            source,
            picture,
        ),
    ];
}

/** @param {HTMLElement} host @param {Context} context @returns {import('./rooms.js').Shown} */
export function show(host, context) {
    const { place, listing } = context;
    const path = `/v1/${place.rest || FIRST}`;
    const resource = find(listing, path);
    if (resource === undefined) {
        host.replaceChildren(picker(context, ''), h('p', {}, `There is no resource ${path}.`));
        return { update: () => undefined, stop: () => undefined };
    }
    const picture = h('div', { class: 'picture', 'aria-busy': true });
    const controls = form(resource.parameters, (name, value, done) => {
        place.set({ [name]: value, win: null, ...(done ? {} : { at: null }) }, { step: done });
        clearTimeout(timer);
        timer = window.setTimeout(() => void load(), done ? 0 : DELAY_MS);
    });
    /** @type {Figure | null} */
    let figure = null;
    let asked = new AbortController();
    let timer = 0;
    let shown = '';

    async function load() {
        asked.abort();
        asked = new AbortController();
        const { signal } = asked;
        const values = given(/** @type {Resource} */ (resource), place.all());
        const key = JSON.stringify(values);
        const usual = await parametersOf(values.model).catch(() => ({}));
        if (signal.aborted) return;
        controls.show(values, usual);
        if (key === shown) {
            controls.fail(null);
            return figure?.update();
        }
        picture.setAttribute('aria-busy', 'true');
        try {
            const { wanted, found } = await ask(/** @type {Resource} */ (resource), values, signal);
            if (signal.aborted) return;
            controls.show(values, usual);
            shown = key;
            figure?.stop();
            figure = drawn(found, wanted, context, figure);
            controls.fail(null);
            picture.replaceChildren(figure.element);
        } catch (error) {
            if (signal.aborted) return;
            controls.fail(error);
        }
        picture.removeAttribute('aria-busy');
    }

    host.replaceChildren(
        ...layout(
            resource,
            [picker(context, path), h('section', { class: 'panel', 'aria-label': 'Parameters' }, controls.element)],
            picture,
        ),
    );
    void load();
    return { update: () => void load(), stop: () => (clearTimeout(timer), asked.abort(), figure?.stop()) };
}
