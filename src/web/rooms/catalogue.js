// catalogue.js - the models of GET /v1/models, and a model's config.json as the server understands it.
import { Problem, once, request } from '../parts/api.js';
import { choice } from '../parts/controls.js';
import { fresh, h, put } from '../parts/dom.js';
import { complaint } from '../parts/latest.js';
import { texts } from '../parts/place.js';
import { grid, scrolled } from '../parts/table.js';

/** @typedef {import('openapi').components['schemas']} Schemas */
/** @typedef {Schemas['Catalogue']['models'][number]} Model */
/** @typedef {Schemas['Resolved']} Resolved */

/** All models. @returns {Promise<Model[]>} */
export const models = async () => (await once('/v1/models')).models;

/** A model's parameters, as the fields of a form have them. @param {string | undefined} name @returns {Promise<Record<string, string>>} */
export async function parametersOf(name) {
    const model = name ? (await models()).find((each) => each.name === name) : undefined;
    return texts(model?.parameters ?? {});
}

/** A choice among models: those of some encodings, or those that fit; without either all.
 * @param {(name: string) => void} change an empty name: none
 * @param {{encodings?: string[], fits?: (model: Model) => boolean, label?: string, needed?: boolean}} [which] */
export function picker(change, { encodings = [], fits, label = 'model', needed = false } = {}) {
    const field = choice(label, [], change);
    const own = fits ?? (({ encoding }) => encodings.length === 0 || encodings.includes(encoding));
    void models().then(
        (all) => {
            const list = all.filter(own);
            const some = `${list.length} of ${all.length} models: those with ${encodings.join(' or ')}.`;
            field.words.textContent = `${encodings.length > 0 ? some : `${list.length} models.`} Type a part of a name.`;
            const titles = list.map(({ name, title, organization }) => [name, `${title}, ${organization}`]);
            const choices = needed ? titles : [['', 'none'], ...titles];
            field.offer?.(choices.map(([value, title]) => ({ value, title })));
        },
        () => undefined, // The line says that the server is away.
    );
    return field;
}

/** What became of each key. @param {Resolved} resolved */
function keys({ keys: list, warnings, encoding }) {
    const rows = list.map(({ pointer, value, status, parameter, note }) => {
        const text = JSON.stringify(value) ?? '';
        return h('tr', { 'data-status': status }, [
            h('th', { scope: 'row' }, pointer.replace('#/', '')),
            h('td', text.length > 36 ? `${text.slice(0, 33)}…` : text),
            h('td', status),
            h('td.wrap', [parameter, note].filter(Boolean).join(': ')),
        ]);
    });
    return [
        h('p', `encoding: ${encoding}`),
        ...warnings.map((words) => h('p.warning', words)),
        scrolled('Keys of the configuration', grid({ class: 'keys' }, '', ['key', 'value', 'was', 'for'], rows)),
    ];
}

/** A box that takes a config.json, pasted or dropped. @param {(resolved: Resolved, text: string) => void} change */
export function configBox(change) {
    const id = fresh('config');
    const field = h('textarea.code', { id, rows: 5, spellcheck: 'false', placeholder: '{"model_type": "llama", …}' });
    const error = complaint();
    const out = h('div.resolved');
    const read = async () => {
        out.replaceChildren();
        error.show(null);
        if (field.value.trim() === '') return;
        try {
            const body = new Blob([field.value], { type: 'application/json' });
            /** @type {Resolved} */
            const resolved = await (await request('/v1/models/resolve', { body })).json();
            put(out, keys(resolved));
            change(resolved, field.value);
        } catch (caught) {
            if (caught instanceof Problem) error.show(caught);
            else throw caught;
        }
    };
    field.addEventListener('change', () => void read());
    field.addEventListener('paste', () => setTimeout(() => void read()));
    const box = h('details.more.config', [
        h('summary', 'Paste a config.json'),
        h('label.name', { for: id }, 'config.json'),
        h('p.help', 'Paste a model’s configuration, or drop its file anywhere.'),
        field,
        error,
        out,
    ]);
    return {
        element: box,
        /** @param {File} file */
        take: (file) => {
            if (!/\.json$/i.test(file.name)) return false;
            void file.text().then((text) => {
                field.value = text;
                return read();
            });
            return true;
        },
    };
}
