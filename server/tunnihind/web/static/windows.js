// Finds the cheapest and the most expensive time to use a device, and computes the cost. All functions are pure.

import { floorTo, HOUR_S, joinPeriods, MINUTE_S, priceOf, QUARTER_S } from "./periods.js";

/** @typedef {{ts: number, price: number}} Candidate */

/**
 * Returns the cheapest `length` periods in one piece. If several pieces cost the same, returns the earliest. If no
 * piece is long enough, returns null.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step the length of a period in seconds
 * @returns {Candidate[] | null}
 */
export function cheapestPiece(candidates, length, step) {
  let best = null;
  let bestSum = Infinity;
  for (let i = 0; i + length <= candidates.length; i++) {
    const piece = candidates.slice(i, i + length);
    const sum = totalPrice(piece);
    const isWhole = piece[length - 1].ts === piece[0].ts + (length - 1) * step;
    // A difference below 1e-9 is only a rounding error.
    if (isWhole && sum < bestSum - 1e-9) [best, bestSum] = [piece, sum];
  }
  return best;
}

/**
 * Returns the cheapest `length` periods, ascending. If periods cost the same, the earlier ones are chosen. If there are
 * fewer than `length` candidates, returns null.
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
 * Returns the cheapest and the most expensive `length` periods: in one piece, or anywhere if `isSplit` is true. If
 * there are not enough such periods, both are null. If the two share a period or cost the same, `mostExpensive` is
 * null.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step the length of a period in seconds
 * @param {boolean} isSplit
 * @returns {{cheapest: Candidate[] | null, mostExpensive: Candidate[] | null}}
 */
export function cheapestAndMostExpensive(candidates, length, step, isSplit) {
  const search = (/** @type {Candidate[]} */ among) =>
    isSplit ? cheapestPeriods(among, length) : cheapestPiece(among, length, step);
  const cheapest = search(candidates);
  const mostExpensive = negated(search(negated(candidates)));
  const taken = new Set(cheapest?.map(({ ts }) => ts));
  const isDistinct = cheapest && mostExpensive && !mostExpensive.some(({ ts }) => taken.has(ts)) && totalPrice(mostExpensive) > totalPrice(cheapest) + 1e-9;
  return { cheapest, mostExpensive: isDistinct ? mostExpensive : null };
}

/** @template {Candidate[] | null} T @param {T} candidates @returns {T} */
function negated(candidates) {
  return /** @type {T} */ (candidates && candidates.map(({ ts, price }) => ({ ts, price: -price })));
}

/** @param {Candidate[]} periods */
function totalPrice(periods) {
  return periods.reduce((sum, { price }) => sum + price, 0);
}

/** @typedef {{period: import("./periods.js").Period, seconds: number}} Slice  a period with a price or forecast, and the seconds that a device runs in it */
/**
 * @typedef {{mean: number, range: [number, number] | null, isAllForecast: boolean, euros: number}} Cost
 *   the mean price and its likely range in the reader's unit, and the cost in euros, rounded to the cent. If all prices
 *   are published, `range` is null
 */

/**
 * Returns the periods in which a device runs, with the seconds in each. If one of them has neither a price nor a
 * forecast, returns null.
 * @param {Map<number, import("./periods.js").Period>} periods
 * @param {number} from @param {number} duration in seconds @param {number} step the length of a period in seconds
 * @returns {Slice[] | null}
 */
export function slicesOf(periods, from, duration, step) {
  /** @type {Slice[]} */
  const slices = [];
  for (let ts = floorTo(from, step); ts < from + duration; ts += step) {
    const period = periods.get(ts);
    if (!period || (period.settled === null && !period.forecast)) return null;
    slices.push({ period, seconds: Math.min(ts + step, from + duration) - Math.max(ts, from) });
  }
  return slices;
}

/**
 * The assumed correlation of the forecast errors of two periods is a sum of terms that fall exponentially with the time
 * between the periods. Each term has a factor and a decay time in seconds. The Home Assistant integration uses the same
 * numbers. Its `plans/saving.py` describes how they were fitted.
 */
const CORRELATION = [[0.45, 2.5 * HOUR_S], [0.55, 34 * HOUR_S]];

/**
 * Returns the mean price of the slices, and the cost of `kwh` kilowatt-hours that are used evenly in them. The likely
 * range of the mean price takes into account that the errors of several forecasts partly cancel out.
 * @param {Slice[]} slices in the order of time
 * @param {number} kwh
 * @param {number} eurosPerKwh a price of 1 in the reader's unit, in euros per kWh
 * @returns {Cost}
 */
export function costOf(slices, kwh, eurosPerKwh) {
  const totalSeconds = slices.reduce((sum, { seconds }) => sum + seconds, 0);
  const mean = slices.reduce((sum, { period, seconds }) => sum + (priceOf(period) ?? NaN) * seconds, 0) / totalSeconds;
  const ahead = slices.filter(({ period }) => period.settled === null);
  const distance = (/** @type {0 | 2} */ bound) =>
    jointDistance(ahead.map(({ period: { ts, forecast }, seconds }) => [ts, forecast ? (Math.abs(forecast[bound] - forecast[1]) * seconds) / totalSeconds : NaN]));
  return {
    mean,
    range: ahead.length ? [mean - distance(0), mean + distance(2)] : null,
    isAllForecast: ahead.length === slices.length,
    // The inner rounding removes the errors of binary fractions.
    euros: Math.round(Number((mean * eurosPerKwh * kwh * 100).toFixed(6))) / 100,
  };
}

/**
 * @typedef {{pieces: import("./periods.js").Span[], cost: Cost}} Finding
 * @typedef {{cheapest: Finding | null, atOnce: Finding | null, mostExpensive: Finding | null}} Findings
 *   If an immediate start costs more than the most expensive later time, it is itself `mostExpensive`.
 */

/**
 * Finds the cheapest and the most expensive time among the candidates, and compares them with an immediate start in the
 * present minute.
 * @param {import("./periods.js").Scene} scene
 * @param {Candidate[]} candidates quarters, ascending
 * @param {{hours: number, kwh: number}} use the running time and the energy of the device
 * @param {boolean} isSplit
 * @returns {Findings}
 */
export function findTimes({ now, periods, step, wording }, candidates, { hours, kwh }, isSplit) {
  const duration = hours * HOUR_S;
  const finding = (/** @type {import("./periods.js").Span[]} */ pieces) => {
    const slices = pieces.map(({ from, to }) => slicesOf(periods, from, to - from, step));
    return pieces.length && !slices.includes(null)
      ? { pieces, cost: costOf(slices.flatMap((some) => some ?? []), kwh, wording.eurosPerKwh) }
      : null;
  };
  const found = cheapestAndMostExpensive(candidates, duration / QUARTER_S, QUARTER_S, isSplit);
  const [cheapest, mostExpensive] = [found.cheapest, found.mostExpensive].map((some) => finding(joinPeriods(some ?? [], QUARTER_S)));
  const start = floorTo(now(), MINUTE_S);
  const atOnce = finding([{ from: start, to: start + duration }]);
  const isNowWorst = atOnce && mostExpensive && atOnce.cost.mean > mostExpensive.cost.mean;
  return { cheapest, atOnce, mostExpensive: isNowWorst ? atOnce : mostExpensive };
}

/**
 * Returns the distance from the median of a sum of prices to the sum's p10 or p90. Each part of the sum has
 * `distance`, the distance from the part's own median to its p10 or p90, and `ts`, the start of its period.
 * @param {[ts: number, distance: number][]} parts
 */
function jointDistance(parts) {
  const correlation = (/** @type {number} */ gap) => CORRELATION.reduce((sum, [share, reach]) => sum + share * Math.exp(-Math.abs(gap) / reach), 0);
  return Math.sqrt(parts.reduce((sum, [ts, distance]) => sum + parts.reduce((row, [other, too]) => row + distance * too * correlation(ts - other), 0), 0));
}
