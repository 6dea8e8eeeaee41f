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
 * @property {(file: File) => boolean} [take] a file was dropped; false: this room has no use for it
 * @property {() => void} stop the room is left: end requests and observers
 */
/** @typedef {{show: (host: HTMLElement, context: Context) => Shown}} Module */
/** @typedef {{id: string, title: string, line: string, chapter?: number, load: () => Promise<Module>}} Room */

/** The first is the first screen; those with a number are read in this order. @type {Room[]} */
export const rooms = [
    {
        id: '',
        title: 'posenc',
        line: 'Positional encodings, exact, to be seen, changed, checked and shared.',
        load: () => import('./opening.js'),
    },
    {
        id: 'words',
        title: 'Words',
        line: 'Attention without positions sees no order.',
        chapter: 1,
        load: () => import('./words.js'),
    },
    {
        id: 'waves',
        title: 'Waves',
        line: 'A sine and a cosine for every pair of channels.',
        chapter: 2,
        load: () => import('./waves.js'),
    },
    {
        id: 'rotations',
        title: 'Rotations',
        line: 'RoPE: the score depends on the distance alone.',
        chapter: 3,
        load: () => import('./rotations.js'),
    },
    {
        id: 'biases',
        title: 'Biases',
        line: 'A number for each distance, added to the scores.',
        chapter: 4,
        load: () => import('./biases.js'),
    },
    {
        id: 'reach',
        title: 'Long contexts',
        line: 'What scaling does to the angles beyond the training length.',
        chapter: 5,
        load: () => import('./reach.js'),
    },
    {
        id: 'axes',
        title: 'Images and video',
        line: 'Positions of patches: time, height and width.',
        chapter: 6,
        load: () => import('./axes.js'),
    },
    {
        id: 'models',
        title: 'Models',
        line: 'Which layers of a model rotate, and how far each sees.',
        chapter: 7,
        load: () => import('./models.js'),
    },
    {
        id: 'doctor',
        title: 'Check a table',
        line: 'Is a file what it should be, and which mistake explains it?',
        chapter: 8,
        load: () => import('./doctor.js'),
    },
    {
        id: 'any',
        title: 'Any resource',
        line: 'Every resource of this service, drawn.',
        load: () => import('./any.js'),
    },
];
