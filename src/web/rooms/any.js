// any.js - any resource of the listing: controls from its rows, and a picture of whatever it answers.
import { Problem, answer, parameterOf } from '../parts/api.js';
import { choice, form } from '../parts/controls.js';
import { h } from '../parts/dom.js';
import { find, initial, needed } from '../parts/listing.js';
import { valueOf } from '../parts/number.js';
import { texts } from '../parts/place.js';
import { Room, opened } from '../parts/room.js';
import { parametersOf } from './catalogue.js';

/** @import { Resource } from '../parts/listing.js' */

const FIRST = 'sinusoidal';
// What the address holds beside the parameters of the resource.
const OWN = ['win', 'at', 'slice', 'tensor', 'colours'];

/** The parameters as the request gives them: those that were chosen, and examples of those that it needs.
 * @param {Resource} resource @param {Record<string, string>} chosen */
function given(resource, chosen) {
    const values = texts(chosen, (name) => !OWN.includes(name));
    for (const parameter of resource.parameters) {
        const misses = needed(parameter) && (parameter.required || values.model === undefined);
        if (misses) values[parameter.name] ??= initial(parameter);
    }
    // Where one of several arrays is enough, none is required: the first is an example.
    const arrays = resource.parameters.filter(({ type }) => type === 'tensor');
    if (arrays[0]?.example && arrays.every(({ name }) => values[name] === undefined))
        values[arrays[0].name] = arrays[0].example;
    return values;
}

/** @param {Resource} resource @param {Record<string, string>} values */
function target(resource, values) {
    const named = resource.path.match(/\{(\w+)\}/)?.[1] ?? '';
    const path = resource.path.replace(/\{\w+\}/, encodeURIComponent(values[named] ?? ''));
    const rest = texts(values, (name) => name !== named);
    if (resource.methods.includes('GET')) return { path, values: rest, body: undefined };
    return {
        path,
        values: {},
        body: Object.fromEntries(Object.entries(rest).map(([name, text]) => [name, valueOf(text)])),
    };
}

/** Ask, and where the server misses what others have made necessary, ask with examples of it.
 * @param {Resource} resource @param {Record<string, string>} values to which examples are added @param {AbortSignal} signal */
async function ask(resource, values, signal) {
    for (;;) {
        const wanted = target(resource, values);
        try {
            return { wanted, found: await answer(wanted.path, wanted.values, { signal, body: wanted.body }) };
        } catch (error) {
            // Examples of what the refusal is about and the request left out.
            const about = error instanceof Problem ? error.errors.map(parameterOf) : [];
            const left = resource.parameters.filter(({ name }) => about.includes(name) && values[name] === undefined);
            const more = left.filter(({ example }) => example);
            if (more.length === 0) throw error;
            for (const { name, example } of more) values[name] = String(example);
        }
    }
}

class Any extends Room {
    path = `/v1/${this.place.rest || FIRST}`;
    resource = find(this.listing, this.path);
    picture = h('div.picture', { 'aria-busy': true });
    controls = form((name, value, done) => this.set({ [name]: value, win: null, ...(done ? {} : { at: null }) }, done));
    question = this.asks(this.controls.fail, { patient: true, busy: this.picture });

    layout() {
        const to = /** @param {string} path */ (path) => this.go('any', path.replace('/v1/', ''));
        const { element, offer, show } = choice('resource', [], to);
        element.classList.add('picker');
        offer?.(this.listing.encodings.map(({ path }) => ({ value: path, title: path })));
        show(this.resource?.path ?? '');
        if (this.resource === undefined) return [element, h('p', `There is no resource ${this.path}.`)];
        const { summary, formula, source } = this.resource;
        const about = h('details.source', h('summary', 'Formula and source'), h('p.code', formula), h('p', source));
        return [element, this.split([this.controls], h('div', h('h1.lead', summary), about, this.picture))];
    }

    async load() {
        const { resource, controls, picture } = this;
        if (!resource) return;
        const values = given(resource, this.place.all());
        const key = JSON.stringify(values);
        const usual = await parametersOf(values.model).catch(() => ({}));
        controls.show(resource.parameters, values, usual);
        await this.question.ask(
            key,
            (signal) => ask(resource, values, signal),
            ({ wanted, found }) => {
                controls.show(resource.parameters, values, usual);
                this.draw(picture, found, wanted);
            },
        );
        this.figure?.update();
    }
}

export const show = opened(Any);
