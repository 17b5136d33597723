// The cheapest time to run something: pure functions over hours with prices.

import { HOUR_S } from "./hours.js";

/** @typedef {{ts: number, price: number}} Candidate */

/**
 * The cheapest `length` hours in one piece, the earliest of equals; null where no piece is long enough.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @returns {Candidate[] | null}
 */
export function cheapestPiece(candidates, length) {
  let best = null;
  let bestSum = Infinity;
  for (let i = 0; i + length <= candidates.length; i++) {
    const piece = candidates.slice(i, i + length);
    const sum = total(piece);
    const isWhole = piece[length - 1].ts === piece[0].ts + (length - 1) * HOUR_S;
    // A tiny difference is only a rounding error.
    if (isWhole && sum < bestSum - 1e-9) [best, bestSum] = [piece, sum];
  }
  return best;
}

/**
 * The cheapest `length` hours wherever they are, the earliest of equals; null where there are fewer.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @returns {Candidate[] | null}
 */
export function cheapestHours(candidates, length) {
  if (candidates.length < length) return null;
  const cheapest = [...candidates].sort((a, b) => a.price - b.price || a.ts - b.ts).slice(0, length);
  return cheapest.sort((a, b) => a.ts - b.ts);
}

/**
 * Joins hours that follow each other.
 * @param {Candidate[]} hours ascending
 * @returns {{ts: number, hours: number}[]}
 */
export function pieces(hours) {
  /** @type {{ts: number, hours: number}[]} */
  const joined = [];
  for (const { ts } of hours) {
    const last = joined.at(-1);
    if (last && last.ts + last.hours * HOUR_S === ts) last.hours += 1;
    else joined.push({ ts, hours: 1 });
  }
  return joined;
}

/** @param {Candidate[]} hours */
export function meanPrice(hours) {
  return total(hours) / hours.length;
}

/** @param {Candidate[]} hours */
function total(hours) {
  return hours.reduce((sum, hour) => sum + hour.price, 0);
}
