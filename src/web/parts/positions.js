// positions.js - which position each row of a table has.

/**
 * The position of each row; the row's own number where the answer has no positions.
 * @param {unknown} positions as the canonical parameters say: "a:b", "a:b:step", a number, or a list
 * @param {number} rows
 * @returns {((row: number) => number) | undefined} undefined: the rows are no positions
 */
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
