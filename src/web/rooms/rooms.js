// rooms.js - the rooms of the page, in the order of its list.

/** What a room gets: the state in the address, which it reads and writes; `go`, to another room or resource; `fail`,
 * for what no field of the room can show.
 * @typedef {{listing: import('../parts/listing.js').Listing, place: import('../parts/place.js').Place,
 * go: (room: string, rest?: string, values?: Record<string, string>) => void, fail: (error: unknown) => void}} Context */
/** A room that is shown. `update`: the address has changed; `take`: a file was dropped, false where the room has no use
 * for it; `stop`: the room is left.
 * @typedef {{update: () => void, take?: (file: File) => boolean, stop: () => void}} Shown */
/** @typedef {{show: (host: HTMLElement, context: Context) => Shown}} Module */
/** @typedef {{id: string, title: string, line: string, chapter?: number, load: () => Promise<Module>}} Room */

/** The first is the first screen; those that follow, as many as CHAPTERS, are read in this order.
 * @type {[id: string, title: string, line: string][]} */
const ROWS = [
    ['', 'posenc', 'Positional encodings, exact, to be seen, changed, checked and shared.'],
    ['words', 'Words', 'Order is lost: attention without positions sees none.'],
    ['waves', 'Waves', 'A sine and a cosine for every pair of channels.'],
    ['sums', 'Sums', 'The embedding of a word plus the encoding of its position.'],
    ['step', 'Steps', 'A step of k positions is one rotation, wherever it starts.'],
    ['rotations', 'Rotations', 'RoPE: the score depends on the distance alone.'],
    ['biases', 'Biases', 'A number for each distance, added to the scores.'],
    ['reach', 'Long contexts', 'What scaling does to the angles beyond the training length.'],
    ['which', 'Which is which', 'One sentence under five schemes.'],
    ['doctor', 'Check a table', 'Is a file what it should be, and which mistake explains it?'],
    ['axes', 'Images and video', 'Positions of patches: time, height and width.'],
    ['models', 'Models', 'Which layers of a model rotate, and how far each sees.'],
    ['any', 'Any resource', 'Every resource of this service, drawn.'],
];
const CHAPTERS = 9;

/** @type {Room[]} */
export const rooms = ROWS.map(([id, title, line], i) => ({
    ...{ id, title, line, chapter: i > 0 && i <= CHAPTERS ? i : undefined },
    load: () => import(`./${id || 'opening'}.js`),
}));
