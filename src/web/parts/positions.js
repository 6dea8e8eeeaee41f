// positions.js - which position each row of a table has.

/** The position of each row; the row's own number where the answer has no positions. @param {unknown} positions as
 * the canonical parameters say: "a:b", "a:b:step", a number, or a list @param {number} rows
 * @returns {((row: number) => number) | undefined} undefined: the rows are no positions */
export function positionOf(positions, rows) {
    if (typeof positions === 'number') return rows === 1 ? () => positions : undefined;
    if (Array.isArray(positions)) return positions.length === rows ? (row) => positions[row] : undefined;
    if (typeof positions !== 'string') return undefined;
    const list = positions.split(',').map(Number);
    if (!positions.includes(':')) return list.length === rows ? (row) => list[row] : undefined;
    const [first, last, step = 1] = positions.split(':').map(Number);
    if (Math.ceil((last - first) / step - 1e-9) !== rows) return undefined;
    return (row) => Number((first + row * step).toPrecision(15));
}

/** The positions of rows [first, end) as a request names them; undefined where they are no range of all rows.
 * @param {unknown} positions canonical @param {number} first @param {number} end @param {number} rows */
export function positionsOf(positions, first, end, rows) {
    const at = positionOf(positions, rows);
    if (at === undefined || typeof positions !== 'string' || !positions.includes(':')) return undefined;
    const step = positions.split(':')[2] ?? '1';
    // Half a step beyond the last, so that rounding neither takes a row nor adds one.
    const last = Number(step) % 1 === 0 ? at(end) : at(end - 1) + Number(step) / 2;
    return `${at(first)}:${last}:${step}`;
}
