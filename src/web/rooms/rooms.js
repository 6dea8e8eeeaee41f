// rooms.js - the rooms of the page, in the order of its list.

/**
 * @typedef {object} Context what a room gets
 * @property {import('../parts/listing.js').Listing} listing
 * @property {import('../parts/place.js').Place} place the state in the address: read and written by the room
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

/** @typedef {[id: string, title: string, line: string]} Row */

/** The first screen. @type {Row} */
const OPENING = ['', 'posenc', 'Positional encodings, exact, to be seen, changed, checked and shared.'];

/** The chapters, in the order in which they are read; then what else there is. @type {Row[]} */
const CHAPTERS = [
    ['words', 'Words', 'Order is lost: attention without positions sees none.'],
    ['waves', 'Waves', 'A sine and a cosine for every pair of channels.'],
    ['sums', 'Sums', 'The embedding of a word plus the encoding of its position.'],
    ['step', 'Steps', 'A step of k positions is one rotation, wherever it starts.'],
    ['rotations', 'Rotations', 'RoPE: the score depends on the distance alone.'],
    ['biases', 'Biases', 'A number for each distance, added to the scores.'],
    ['reach', 'Long contexts', 'What scaling does to the angles beyond the training length.'],
    ['which', 'Which is which', 'One sentence under five schemes.'],
    ['doctor', 'Check a table', 'Is a file what it should be, and which mistake explains it?'],
];

/** @type {Row[]} */
const OTHERS = [
    ['axes', 'Images and video', 'Positions of patches: time, height and width.'],
    ['models', 'Models', 'Which layers of a model rotate, and how far each sees.'],
    ['any', 'Any resource', 'Every resource of this service, drawn.'],
];

/** @param {Row} row @param {number} [chapter] @returns {Room} */
const room = ([id, title, line], chapter) => ({
    ...{ id, title, line, chapter },
    load: () => import(`./${id || 'opening'}.js`),
});

/** The first is the first screen. @type {Room[]} */
export const rooms = [
    room(OPENING),
    ...CHAPTERS.map((each, i) => room(each, i + 1)),
    ...OTHERS.map((each) => room(each)),
];
