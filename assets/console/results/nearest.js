// @ts-check
/** Which vectors are nearest to one of them. */

/** So many numbers are multiplied before the page would stand still for a moment. */
const MOST_NUMBERS = 40_000_000;

/** How many vectors are compared at most. @param {number} dimensions */
export const comparable = (dimensions) => Math.max(1, Math.floor(MOST_NUMBERS / dimensions));

/**
 * The nearest by the cosine of their angle, the nearest first, without the one itself.
 * @param {Float32Array} floats  row by row
 * @param {{dimensions: number, row: number, most: number}} options
 * @returns {{row: number, score: number}[]}
 */
export function nearest(floats, { dimensions, row, most }) {
  const rows = Math.min(floats.length / dimensions, comparable(dimensions));
  const own = floats.subarray(row * dimensions, (row + 1) * dimensions);
  /** @type {{row: number, score: number}[]} */
  const best = [];
  for (let other = 0; other < rows; other += 1) {
    if (other === row) continue;
    const score = cosine(own, floats, other * dimensions);
    if (best.length < most || score > (best.at(-1)?.score ?? -Infinity)) insert(best, { row: other, score }, most);
  }
  return best;
}

/** Of a vector without a length there is no angle: it is near to none. @param {Float32Array} own @param {Float32Array} floats @param {number} from */
function cosine(own, floats, from) {
  let [product, mine, theirs] = [0, 0, 0];
  for (let at = 0; at < own.length; at += 1) {
    const [a, b] = [own[at] ?? 0, floats[from + at] ?? 0];
    product += a * b;
    mine += a * a;
    theirs += b * b;
  }
  return mine && theirs ? product / Math.sqrt(mine * theirs) : 0;
}

/** @param {{row: number, score: number}[]} best @param {{row: number, score: number}} found @param {number} most */
function insert(best, found, most) {
  const at = best.findIndex(({ score }) => score < found.score);
  best.splice(at < 0 ? best.length : at, 0, found);
  best.length = Math.min(best.length, most);
}
