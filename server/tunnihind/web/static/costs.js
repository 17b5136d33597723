// What it costs to run something: pure functions.

import { floorTo, HOUR_S, priceOf } from "./periods.js";

/** @typedef {{period: import("./periods.js").Period, seconds: number}} Part  a period with a price, and for how long of it something runs */
/**
 * @typedef {{mean: number, range: [number, number] | null, isAllForecast: boolean, euros: number}} Cost
 *   `mean` and `range` in the reader's unit, `range` where a price is a forecast; `euros` to the cent
 */

/**
 * What a run from an instant on uses of each period; null where a price is unknown.
 * @param {Map<number, import("./periods.js").Period>} periods
 * @param {number} from @param {number} duration in seconds @param {number} step how long a period is
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
 * The correlation of two hours' forecast errors: shares of it, and the seconds in which each fades. It is that of the Home
 * Assistant integration, whose `plans/saving.py` says how it was fitted.
 */
const CORRELATION = [[0.45, 2.5 * HOUR_S], [0.55, 34 * HOUR_S]];

/**
 * The mean price of a run, and what it costs to use an energy evenly in it. Periods don't all turn out high or low
 * together, so its range is narrower than the mean of theirs.
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
 * How far a sum can be from its median, by how far its parts can.
 * @param {[ts: number, away: number][]} parts
 */
function joint(parts) {
  const together = (/** @type {number} */ apart) => CORRELATION.reduce((sum, [share, reach]) => sum + share * Math.exp(-Math.abs(apart) / reach), 0);
  return Math.sqrt(parts.reduce((sum, [ts, away]) => sum + parts.reduce((row, [other, too]) => row + away * too * together(ts - other), 0), 0));
}
