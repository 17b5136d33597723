// Finds the cheapest and the most expensive time to run a device, and the cost. All functions are pure.

import { floorTo, HOUR_S, priceOf } from "./periods.js";

/** @typedef {{ts: number, price: number}} Candidate */

/**
 * Returns the cheapest `length` periods in one piece. If pieces cost the same, returns the earliest one. If no piece is
 * long enough, returns null.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step the length of a period
 * @returns {Candidate[] | null}
 */
export function cheapestPiece(candidates, length, step) {
  let best = null;
  let bestSum = Infinity;
  for (let i = 0; i + length <= candidates.length; i++) {
    const piece = candidates.slice(i, i + length);
    const sum = total(piece);
    const isWhole = piece[length - 1].ts === piece[0].ts + (length - 1) * step;
    // A tiny difference is only a rounding error.
    if (isWhole && sum < bestSum - 1e-9) [best, bestSum] = [piece, sum];
  }
  return best;
}

/**
 * Returns the cheapest `length` periods. If periods cost the same, the earlier ones are chosen. If there are fewer
 * periods, returns null.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @returns {Candidate[] | null}
 */
export function cheapestPeriods(candidates, length) {
  if (candidates.length < length) return null;
  const cheapest = [...candidates].sort((a, b) => a.price - b.price || a.ts - b.ts).slice(0, length);
  return cheapest.sort((a, b) => a.ts - b.ts);
}

/**
 * Returns the cheapest and the most expensive `length` periods, in one piece or anywhere. If both would share a period,
 * or if the most expensive ones cost no more, `dearest` is null.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step the length of a period
 * @param {boolean} isSplit
 * @returns {{cheapest: Candidate[] | null, dearest: Candidate[] | null}}
 */
export function cheapestAndDearest(candidates, length, step, isSplit) {
  const search = (/** @type {Candidate[]} */ among) =>
    isSplit ? cheapestPeriods(among, length) : cheapestPiece(among, length, step);
  const cheapest = search(candidates);
  const dearest = negated(search(negated(candidates)));
  const taken = new Set(cheapest?.map(({ ts }) => ts));
  const isApart = cheapest && dearest && !dearest.some(({ ts }) => taken.has(ts)) && total(dearest) > total(cheapest) + 1e-9;
  return { cheapest, dearest: isApart ? dearest : null };
}

/** @template {Candidate[] | null} T @param {T} candidates @returns {T} */
function negated(candidates) {
  return /** @type {T} */ (candidates && candidates.map(({ ts, price }) => ({ ts, price: -price })));
}

/** @param {Candidate[]} periods */
function total(periods) {
  return periods.reduce((sum, { price }) => sum + price, 0);
}

/** @typedef {{period: import("./periods.js").Period, seconds: number}} Part  a period with a price, and the seconds that a device runs in it */
/**
 * @typedef {{mean: number, range: [number, number] | null, isAllForecast: boolean, euros: number}} Cost
 *   `mean` and `range` in the reader's unit, `range` only if a price is a forecast; `euros` to the cent
 */

/**
 * Returns the seconds that a device runs in each period. If a price is unknown, returns null.
 * @param {Map<number, import("./periods.js").Period>} periods
 * @param {number} from @param {number} duration in seconds @param {number} step the length of a period
 * @returns {Part[] | null}
 */
export function partsOf(periods, from, duration, step) {
  /** @type {Part[]} */
  const parts = [];
  for (let ts = floorTo(from, step); ts < from + duration; ts += step) {
    const period = periods.get(ts);
    if (!period || (period.settled === null && !period.forecast)) return null;
    parts.push({ period, seconds: Math.min(ts + step, from + duration) - Math.max(ts, from) });
  }
  return parts;
}

/**
 * The correlation of two hours' forecast errors, as shares that each fade with their own number of seconds. The Home
 * Assistant integration uses the same numbers. Its `plans/saving.py` describes how they were fitted.
 */
const CORRELATION = [[0.45, 2.5 * HOUR_S], [0.55, 34 * HOUR_S]];

/**
 * Returns the mean price of a run, and the cost of an energy used evenly in it. The run's range is narrower than the
 * mean of the periods' ranges, because the periods' errors partly cancel out.
 * @param {Part[]} parts in the order of time
 * @param {number} kwh
 * @param {number} eurosPerKwh euros per kWh for 1 in the reader's unit
 * @returns {Cost}
 */
export function costOf(parts, kwh, eurosPerKwh) {
  const all = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const mean = parts.reduce((sum, { period, seconds }) => sum + (priceOf(period) ?? NaN) * seconds, 0) / all;
  const ahead = parts.filter(({ period }) => period.settled === null);
  const away = (/** @type {0 | 2} */ bound) =>
    joint(ahead.map(({ period: { ts, forecast }, seconds }) => [ts, forecast ? (Math.abs(forecast[bound] - forecast[1]) * seconds) / all : NaN]));
  return {
    mean,
    range: ahead.length ? [mean - away(0), mean + away(2)] : null,
    isAllForecast: ahead.length === parts.length,
    euros: Math.round(mean * eurosPerKwh * kwh * 100) / 100,
  };
}

/**
 * Returns the distance of a sum's percentile from its median, computed from these distances of its parts.
 * @param {[ts: number, away: number][]} parts
 */
function joint(parts) {
  const together = (/** @type {number} */ apart) => CORRELATION.reduce((sum, [share, reach]) => sum + share * Math.exp(-Math.abs(apart) / reach), 0);
  return Math.sqrt(parts.reduce((sum, [ts, away]) => sum + parts.reduce((row, [other, too]) => row + away * too * together(ts - other), 0), 0));
}
