// What it costs to run something: pure functions.

import { floorTo } from "./periods.js";

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
 * The mean price of a run, and what it costs to use an energy evenly in it. A forecast's range is the mean of its
 * periods' ranges, as if all came out high or low together: the real one is hardly wider.
 * @param {Part[]} parts
 * @param {number} kwh
 * @param {number} eurosPerKwh euros per kWh for 1 in the reader's unit
 * @returns {Cost}
 */
export function costOf(parts, kwh, eurosPerKwh) {
  const all = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const mean = (/** @type {0 | 1 | 2} */ percentile) =>
    parts.reduce((sum, { period, seconds }) => sum + (period.settled ?? period.forecast?.[percentile] ?? NaN) * seconds, 0) / all;
  const isForecast = parts.map(({ period }) => period.settled === null);
  return {
    mean: mean(1),
    range: isForecast.includes(true) ? [mean(0), mean(2)] : null,
    isAllForecast: !isForecast.includes(false),
    euros: Math.round(mean(1) * eurosPerKwh * kwh * 100) / 100,
  };
}
