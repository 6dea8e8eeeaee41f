// rooms.js - the rooms of the page, in the order of its list.

/** @typedef {import('../parts/place.js').Place} Place */
/**
 * @typedef {object} Context what a room gets
 * @property {import('../parts/listing.js').Listing} listing
 * @property {Place} place the state in the address: read and written by the room
 * @property {(room: string, rest?: string, values?: Record<string, string>) => void} go to another room or resource
 * @property {(error: unknown) => void} fail what no field of the room can show
 */
/**
 * @typedef {object} Shown
 * @property {() => void} update the address has changed: show what it says
 * @property {() => void} stop the room is left: end requests and observers
 */
/** @typedef {{show: (host: HTMLElement, context: Context) => Shown}} Module */
/** @typedef {{id: string, title: string, line: string, load: () => Promise<Module>}} Room */

/** The first is the first screen. @type {Room[]} */
export const rooms = [
    {
        id: 'words',
        title: 'Words',
        line: 'Why positions exist.',
        load: () => import('./words.js'),
    },
    { id: 'waves', title: 'Waves', line: 'Sinusoids, and their rotations.', load: () => import('./waves.js') },
    {
        id: 'rotations',
        title: 'Rotations',
        line: 'RoPE: the score depends on the distance.',
        load: () => import('./rotations.js'),
    },
    { id: 'reach', title: 'Reach', line: 'Angles of longer contexts.', load: () => import('./reach.js') },
    { id: 'biases', title: 'Biases', line: 'Biases of attention.', load: () => import('./biases.js') },
    { id: 'doctor', title: 'Doctor', line: 'What is wrong with a table.', load: () => import('./doctor.js') },
    {
        id: 'any',
        title: 'Any resource',
        line: 'Every resource of this service, drawn.',
        load: () => import('./any.js'),
    },
];
