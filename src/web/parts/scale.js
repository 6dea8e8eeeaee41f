// scale.js - axes: where values stand in pixels, and the round values that are written beside them.

/** @typedef {[number, number]} Ends */
/**
 * @typedef {object} Axis
 * @property {(place: number) => number} invert
 * @property {(count: number) => number[]} ticks about so many round values
 */
/** @typedef {((value: number) => number) & Axis} Scale */

/** The step of 1, 2 or 5 times a power of ten that divides a range into about so many. @param {Ends} domain @param {number} count */
function stepOf([from, to], count) {
    const raw = (to - from) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw));
    const factor = [10, 5, 2].find((each) => raw / power >= Math.sqrt((each * each) / 2));
    return power * (factor ?? 1);
}

/** @param {Ends} domain @param {number} count */
function even([from, to], count) {
    const step = stepOf([from, to], count);
    const [first, last] = [Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
        Number(((first + i) * step).toPrecision(12)),
    );
}

/** One to nine times each power of ten; over many decades the powers alone. @param {Ends} domain @param {number} count */
function byPowers([from, to], count) {
    const [low, high] = [Math.log10(from), Math.log10(to)];
    if (high - low >= count)
        return even([low, high], count)
            .filter(Number.isInteger)
            .map((power) => Number(`1e${power}`));
    const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
    const all = powers.flatMap((power) => Array.from({ length: 9 }, (_, i) => Number(`${i + 1}e${power}`)));
    const within = all.filter((value) => value >= from * (1 - 1e-12) && value <= to * (1 + 1e-12));
    return 2 * within.length < count ? even([from, to], count) : within;
}

/** The domain made wider, up to round values. @param {Ends} domain @param {boolean} log @returns {Ends} */
export function rounded([from, to], log) {
    if (log) return [10 ** Math.floor(Math.log10(from)), 10 ** Math.ceil(Math.log10(to))];
    const step = stepOf([from, to], 5);
    return [step * Math.floor(from / step), step * Math.ceil(to / step)];
}

/** @param {Ends} domain @param {Ends} range in pixels @param {boolean} [log] @returns {Scale} */
export function scale(domain, range, log = false) {
    const [there, back] = log ? [Math.log, Math.exp] : [Number, Number];
    const [from, to] = domain.map((value) => there(value));
    const [first, last] = range;
    const place = /** @param {number} value */ (value) =>
        first + ((there(value) - from) / (to - from)) * (last - first);
    return Object.assign(place, {
        invert: /** @param {number} at */ (at) => back(from + ((at - first) / (last - first)) * (to - from)),
        ticks: /** @param {number} count */ (count) => (log ? byPowers : even)(domain, count),
    });
}
