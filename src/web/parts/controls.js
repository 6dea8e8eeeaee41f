// controls.js - a form from rows of GET /v1: a control for each parameter, with the server's own errors beside it.
import { field, fresh, h, put } from './dom.js';
import { derived, initial, needed } from './listing.js';
import { Problem, parameterOf } from './api.js';
import { complaint } from './latest.js';
import { clamp } from './number.js';
import { keys } from './pointers.js';
import { search } from './search.js';

/** @import { Parameter } from './listing.js' */
/** @import { Choice } from './search.js' */

/** @typedef {(value: string, done?: boolean) => void} Change done: nothing moves any more */
/** A parameter that no resource has; a list in place of a type has its choices.
 * @typedef {[name: string, type: Parameter['type'] | string[], description?: string, unit?: string, least?: number, most?: number]} Row */

const SLIDER_STEPS = 1000;
const SHOWN = 5;
const DECADES = 100;
const TYPING_MS = 300;
// More than so many choices are a list that is searched.
const CHIPS_MAX = 8;

/** A field acts when its text has stood for a moment, and when it is left. What is typed is not written over.
 * @param {HTMLInputElement | HTMLTextAreaElement} field @param {Change} change */
function typed(field, change) {
    let timer = 0;
    let typing = false;
    field.addEventListener('input', () => {
        typing = true;
        clearTimeout(timer);
        timer = window.setTimeout(() => change(field.value.trim(), false), TYPING_MS);
    });
    field.addEventListener('change', () => {
        typing = false;
        clearTimeout(timer);
        change(field.value.trim(), true);
    });
    return /** @param {string} text */ (text) => {
        if (!typing && field.value.trim() !== text) field.value = text;
    };
}

/** A slider's place for a value and back; logarithmic where the bounds span decades, on both sides of 0.
 * @param {Parameter} parameter */
function scale({ type, minimum, exclusive_minimum, maximum: high = 1 }) {
    const low = minimum ?? exclusive_minimum ?? 0;
    const wide = high >= DECADES * (low > 0 ? low : 1);
    // From 0 on, the scale begins like log(1 + x).
    const shift = low > 0 ? 0 : 1;
    const log = /** @param {number} x */ (x) => (wide ? Math.sign(x) * Math.log(Math.abs(x) + shift) : x);
    const exp = /** @param {number} t */ (t) => (shift === 0 ? Math.exp(t) : Math.sign(t) * Math.expm1(Math.abs(t)));
    const [first, last] = [log(low), log(high)];
    return {
        /** @param {number} value */
        place: (value) => (SLIDER_STEPS * (log(value) - first)) / (last - first),
        /** @param {number} place */
        value: (place) => {
            const at = first + ((last - first) * place) / SLIDER_STEPS;
            const exact = wide ? exp(at) : at;
            const value = type === 'integer' ? Math.round(exact) : Number(exact.toPrecision(3));
            return clamp(value, low, high);
        },
    };
}

/** @param {Parameter} parameter @param {Change} change @param {string} id @returns {{parts: HTMLElement[], show: (value: string) => void}} */
function number(parameter, change, id) {
    const { name, type, minimum = 0, maximum } = parameter;
    const input = field('number', { id, inputmode: 'decimal', placeholder: derived(parameter) ?? 'none' });
    const write = typed(input, change);
    if (maximum === undefined) return { parts: [input], show: write };
    const { place, value } = scale(parameter);
    const slider = h('input', { type: 'range', min: 0, max: SLIDER_STEPS, step: 1, 'aria-label': `${name}, slider` });
    const moved = /** @param {boolean} done */ (done) => {
        input.value = String(value(Number(slider.value)));
        slider.setAttribute('aria-valuetext', input.value);
        change(input.value, done);
    };
    slider.addEventListener('input', () => moved(false));
    slider.addEventListener('change', () => moved(true));
    const show = /** @param {string} text */ (text) => {
        write(text);
        if (text !== '' && Number.isFinite(Number(text))) slider.value = String(place(Number(text)));
        slider.setAttribute('aria-valuetext', text === '' ? 'none' : text);
    };
    if (type === 'integer')
        keys(slider, { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }, (by) => {
            show(String(clamp(Number(input.value) + by, minimum, maximum)));
            change(input.value, true);
        });
    return { parts: [slider, input], show };
}

/** Buttons for one choice, or for several, which are listed in their own order.
 * @param {Parameter} parameter @param {Change} change @param {string} id */
function segments({ type, choices = ['true', 'false'] }, change, id) {
    const many = type === 'choices';
    const name = fresh('choice');
    const inputs = choices.map((value) => h('input', { type: many ? 'checkbox' : 'radio', name, value }));
    const onchange = () => {
        const chosen = inputs.filter(({ checked }) => checked);
        change(chosen.map(({ value }) => value).join(','), true);
    };
    const how = { role: many ? 'group' : 'radiogroup', 'aria-labelledby': `${id}-name`, onchange };
    const labels = inputs.map((input) => h('label', input, h('span', input.value)));
    return {
        parts: [h('div.segments', how, labels)],
        show: /** @param {string} value */ (value) => {
            const wanted = many ? value.split(/\s*,\s*/) : [value];
            for (const input of inputs) input.checked = wanted.includes(input.value);
        },
    };
}

/** What a parameter is set by. No choices at all are offered later. @param {Parameter} parameter @param {Change} change
 * @param {string} id @returns {{parts: HTMLElement[], show: (value: string) => void, offer?: (all: Choice[]) => void}} */
function parts(parameter, change, id) {
    const { type, choices } = parameter;
    if (type === 'integer' || type === 'number') return number(parameter, change, id);
    if (type !== 'choices' && choices && (choices.length > CHIPS_MAX || choices.length === 0)) {
        const found = search(id, change);
        found.offer(choices.map((value) => ({ value, title: value })));
        return found;
    }
    if (type === 'boolean' || choices) return segments(parameter, change, id);
    const placeholder = derived(parameter);
    const input = ['tensor', 'numbers'].includes(type)
        ? h('textarea.code', { id, rows: 2, spellcheck: 'false', placeholder })
        : field('code', { id, placeholder });
    return { parts: [input], show: typed(input, change) };
}

/** The control of one parameter, with its name, unit, help and place for an error.
 * @param {Parameter} parameter @param {Change} change */
export function control(parameter, change) {
    const { name, type, unit, description, default: preset } = parameter;
    const id = fresh('field');
    const { parts: inner, show, offer } = parts(parameter, change, id);
    const group = inner[0].matches('.segments');
    const title = group ? h('span.name', { id: `${id}-name` }, name) : h('label.name', { for: id }, name);
    const error = complaint(`${id}-error`);
    const none = type === 'choices' && preset !== undefined && ` None: ${preset}.`;
    const target = inner.find((part) => part.id === id) ?? inner[0];
    target.setAttribute('aria-describedby', `${id}-help ${id}-error`);
    const words = h('p.help', { id: `${id}-help` }, description, none);
    const element = h('div.control', { 'data-parameter': name }, [
        h('div.control-head', title, unit && h('span.unit', unit)),
        h('div.control-row', inner),
        error,
        words,
    ]);
    return {
        element,
        words,
        show,
        offer,
        /** @param {string} words an empty text takes the error away */
        fail: (words) => {
            error.show(words === '' ? null : new Error(words));
            target.setAttribute('aria-invalid', String(words !== ''));
        },
    };
}

/** Parameters that no resource has, all of them needed. @param {Row[]} rows @returns {Parameter[]} */
export const fields = (rows) =>
    rows.map(([name, kind, description = '', unit, minimum, maximum]) => ({
        ...(Array.isArray(kind) ? { type: 'string', choices: kind } : { type: kind }),
        ...{ name, required: true, description, unit, minimum, maximum },
    }));

/** The control of one of several words. @param {string} name @param {string[]} choices @param {Change} change */
export const choice = (name, choices, change) => control(fields([[name, choices]])[0], change);

/** The controls of all rows. The needed ones and some more are open, the others under "More".
 * @param {(name: string, value: string | null, done: boolean) => void} change null: back to what is usual */
export function form(change) {
    /** Defaults of the room or of its model, which come before those of the server. @type {Record<string, string>} */
    let own = {};
    let seen = '';
    /** @type {Map<string, ReturnType<typeof control>>} */
    let controls = new Map();
    const usual = /** @param {Parameter} parameter */ (parameter) => own[parameter.name] ?? initial(parameter);
    const general = complaint();
    const more = h('details.more');
    const element = h('form.form', { onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
    const build = /** @param {Parameter[]} rows */ (rows) => {
        const needs = /** @param {Parameter} each */ (each) =>
            needed(each) || ['tensor', 'positions'].includes(each.type);
        const all = [...rows].sort((a, b) => Number(needs(b)) - Number(needs(a)));
        controls = new Map(
            all.map((each) => {
                const set = /** @type {Change} */ (value, done = true) =>
                    change(each.name, value === '' || value === usual(each) ? null : value, done);
                return [each.name, control(each, set)];
            }),
        );
        const elements = [...controls.values()].map((each) => each);
        const rest = elements.splice(Math.max(SHOWN, rows.filter(needs).length));
        put(more, h('summary', `${rest.length} more parameter${rest.length === 1 ? '' : 's'}`), rest);
        put(element, elements, rest.length > 0 && more, general);
    };
    return {
        element,
        /** @param {Parameter[]} rows @param {Record<string, string>} values @param {Record<string, string>} [defaults] */
        show: (rows, values, defaults = {}) => {
            if (JSON.stringify(rows) !== seen) build(rows);
            seen = JSON.stringify(rows);
            own = defaults;
            for (const each of rows) {
                const made = controls.get(each.name);
                made?.show(values[each.name] ?? usual(each));
                const changed = ![undefined, usual(each)].includes(values[each.name]);
                if (changed && made && more.contains(made.element)) more.open = true;
            }
        },
        /** Show the words of a problem at the fields that caused it; null: all is well. @param {unknown} error */
        fail: (error) => {
            for (const each of controls.values()) each.fail('');
            const faults = error instanceof Problem ? error.errors : [];
            for (const fault of faults) controls.get(parameterOf(fault))?.fail(fault.detail);
            const others = faults.filter((fault) => !controls.has(parameterOf(fault))).map(({ detail }) => detail);
            const told = others.length > 0 ? new Error(others.join(' ')) : null;
            general.show(faults.length === 0 ? error : told);
        },
    };
}
