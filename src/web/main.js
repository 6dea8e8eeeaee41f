// main.js - the frame of the page: the list of rooms, the room that the address names, and the line to the server.
import { Lost, Problem, line, listing, request } from './parts/api.js';
import { attribute, h } from './parts/dom.js';
import { Place, embedded, read, text } from './parts/place.js';
import { rooms } from './rooms/rooms.js';

/** @import { Room, Shown } from './rooms/rooms.js' */

const nav = /** @type {HTMLElement} */ (document.getElementById('rooms'));
const host = /** @type {HTMLElement} */ (document.getElementById('room'));
const path = /** @type {HTMLElement} */ (document.getElementById('path'));
const status = /** @type {HTMLElement} */ (document.getElementById('status'));

const ANEW = 'If the service has a new release, loading the page anew helps.';

/** @type {{place: Place, shown: Shown} | null} */
let current = null;
/** A file for the room that comes. @type {File | null} */
let dropped = null;

/** @param {string} words an empty text takes it away */
function say(words) {
    status.textContent = words;
    status.hidden = words === '';
}

/** @param {unknown} error */
function fail(error) {
    if (error === null) return say('');
    if (error instanceof Lost) return; // The line says so.
    const { message = String(error) } = /** @type {Error} */ (error);
    say(error instanceof Problem ? `${error.title}: ${message}` : message);
}

/** @param {string} room @param {string} [rest] @param {Record<string, string>} [values] */
function go(room, rest = '', values = {}) {
    location.hash = text(room, rest, values);
}

/** Show the room that the address names, or tell the one that is there what changed. */
async function follow() {
    const { room: id, rest, values } = read();
    // This part of Waves has become a room.
    if (id === 'waves' && values.fig === 'turn')
        return location.replace(text('step', '', { pos: (values.at ?? '5').split(',')[0], ...values }));
    const room = rooms.find((each) => each.id === id) ?? nowhere(id);
    say('');
    if (current !== null && current.place.room === room.id && current.place.rest === rest) {
        host.removeAttribute('aria-busy');
        current.place.take(values);
        return current.shown.update();
    }
    host.setAttribute('aria-busy', 'true');
    const place = new Place(room.id, rest, values);
    // A file of a room that did not come: the server is away, which the line says, or has another release.
    const gone = async () => {
        await request('/livez');
        throw new Error(`This room could not be loaded. ${ANEW}`);
    };
    const [module, known] = await Promise.all([room.load().catch(gone), listing()]);
    const now = read();
    if (now.room !== id || now.rest !== rest) return;
    current?.shown.stop();
    host.className = `room room-${room.id || 'opening'}`;
    scrollTo(0, 0);
    head(room);
    host.removeAttribute('aria-busy');
    current = { place, shown: module.show(host, { listing: known, place, go, fail }) };
    if (dropped !== null && current.shown.take?.(dropped)) dropped = null;
}

/** What is shown where no room has the name. @param {string} id @returns {Room} */
function nowhere(id) {
    const links = rooms.slice(1).flatMap(({ id: to, title }, i) => [i > 0 && ', ', h('a', { href: `#/${to}` }, title)]);
    const words = [h('h1', `There is no room “${id}”`), h('p', 'These there are: ', links, '.')];
    const show = /** @param {HTMLElement} room */ (room) => {
        room.replaceChildren(...words);
        return { update: () => undefined, stop: () => undefined };
    };
    return { id, title: 'No such room', line: '', load: async () => ({ show }) };
}

/** What the page says of the room: its title, its sentence, its place in the list and on the path. @param {Room} room */
function head({ id, title, line: sentence, chapter }) {
    document.title = id === '' ? 'posenc: exact positional encodings' : `${title} – posenc`;
    const about = { 'meta[name=description]': sentence, 'meta[property="og:title"]': document.title };
    for (const [selector, content] of Object.entries({ ...about, 'meta[property="og:description"]': sentence }))
        document.querySelector(selector)?.setAttribute('content', content);
    for (const link of nav.querySelectorAll('a'))
        attribute(link, { 'aria-current': link.dataset.room === id ? 'page' : null });
    // On a narrow screen the list is scrolled.
    nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const link = /** @param {number} by @param {string} rel @param {string} word */ (by, rel, word) => {
        const to = rooms.find((each) => chapter !== undefined && each.chapter === chapter + by);
        if (to === undefined) return [];
        const title = h('b', `${to.chapter} ${to.title}`);
        return [h('a', { href: `#/${to.id}`, rel }, h('small', word), title, h('span', to.line))];
    };
    path.replaceChildren(...link(-1, 'prev', '← previous'), ...link(1, 'next', 'next →'));
}

const start = () =>
    follow().catch((error) => {
        host.removeAttribute('aria-busy');
        fail(error);
    });

// What was asked for beside the fields, as a table or a download: its problem is said in the line.
window.addEventListener('unhandledrejection', (event) => {
    if (!(event.reason instanceof Lost || event.reason instanceof Problem)) return;
    event.preventDefault();
    fail(event.reason);
});
document.documentElement.classList.toggle('embed', embedded());
for (const { id, title, chapter } of rooms.slice(1))
    nav.append(h('a', { href: `#/${id}`, 'data-room': id }, h('small', chapter && `${chapter} `), title));
window.addEventListener('hashchange', () => void start());
document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault(); // The fragment is the state of the page.
    host.focus();
});
line.addEventListener('lost', () => {
    const blank = current === null || host.matches('[aria-busy]') || host.querySelector('[aria-busy]') !== null;
    const stays = blank ? '' : ' What is on screen stays.';
    say(`The server does not answer.${stays} This page asks again until it is back.`);
});

window.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('over');
});
window.addEventListener('dragleave', () => document.body.classList.remove('over'));
window.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    const file = event.dataTransfer?.files[0] ?? null;
    // The room takes it, or else the one that can.
    dropped = file && current?.shown.take?.(file) ? null : file;
    if (dropped !== null) go(/\.json$/i.test(dropped.name) ? 'models' : 'doctor');
});
line.addEventListener('back', () => {
    say('');
    void start();
});
void start();
