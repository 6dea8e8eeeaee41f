// listing.js - what GET /v1 says, as types and look-ups.

/** @typedef {import('openapi').components['schemas']} Schemas */
/** @typedef {Schemas['ListedParameter']} Parameter */
/** @typedef {Schemas['ListedResource']} Resource */
/** @typedef {Schemas['Listing']} Listing */

/** @param {Listing} listing @param {string} path with or without "/v1/" */
export function find(listing, path) {
    const whole = path.startsWith('/') ? path : `/v1/${path}`;
    return listing.encodings.find((resource) => resource.path === whole);
}

/** A parameter that has to be given, or a model in its place. @param {Parameter} parameter */
export function needed(parameter) {
    return parameter.required || parameter.required_unless !== undefined;
}

/** The default that the server derives, in words ("head_dim"); undefined where it is a value or there is none.
 * @param {Parameter} parameter */
export function derived(parameter) {
    const { default: value, choices } = parameter;
    return choices === undefined && typeof value === 'string' && /[a-z]/i.test(value) ? value : undefined;
}

/** What a control shows where nothing was chosen. @param {Parameter} parameter */
export function initial(parameter) {
    if (parameter.default !== undefined && derived(parameter) === undefined) return String(parameter.default);
    return needed(parameter) ? (parameter.example ?? '') : '';
}
