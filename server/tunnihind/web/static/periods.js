// The hours or quarter-hours in an answer of the API, with their days and price levels.

import { DAY_S, HOUR_S } from "./chart.js";

export { DAY_S, HOUR_S };
export const MINUTE_S = 60;
export const QUARTER_S = 900;

/**
 * @typedef {{ts: number, eurMwh: number}} Settled
 * @typedef {{ts: number, p10: number, p50: number, p90: number}} Forecast
 * @typedef {{now: number, step: number, settled: Settled[], forecast: Forecast[]}} Prices
 *   EUR/MWh without VAT, for periods of `step` seconds
 * @typedef {{ts: number, settled: number | null, forecast: [number, number, number] | null}} Period
 *   prices in the reader's unit; a forecast is p10, p50 and p90
 */
/** @typedef {import("./chart.js").Span} Span */
/**
 * @typedef {{
 *   periods: Map<number, Period>, step: number, now: () => number,
 *   found: Span[], mostExpensive: Span[], wording: import("./wording.js").Wording,
 * }} Scene  a page's data; `step` is the length of a period in seconds; `found` and `mostExpensive` are the finder's
 *   results
 */

/**
 * Maps the start of each period to the period, from the first to the last with data. Some periods may have no data.
 * @param {Prices} prices
 * @param {(eurMwh: number, ts: number) => number} toShownPrice adds fees and VAT, and converts the sum to the reader's unit
 * @returns {Map<number, Period>}
 */
export function periodsOf({ settled, forecast, step }, toShownPrice) {
  const prices = new Map(settled.map(({ ts, eurMwh }) => [ts, toShownPrice(eurMwh, ts)]));
  /** @type {Map<number, [number, number, number]>} */
  const percentiles = new Map(
    forecast.map(({ ts, p10, p50, p90 }) => [ts, [toShownPrice(p10, ts), toShownPrice(p50, ts), toShownPrice(p90, ts)]]),
  );
  const known = [...prices.keys(), ...percentiles.keys()];
  /** @type {Map<number, Period>} */
  const periods = new Map();
  if (!known.length) return periods;
  const last = Math.max(...known);
  for (let ts = Math.min(...known); ts <= last; ts += step) {
    periods.set(ts, { ts, settled: prices.get(ts) ?? null, forecast: percentiles.get(ts) ?? null });
  }
  return periods;
}

/** The published price of a period, or else the forecast's median. If there is neither, null. @param {Period | undefined} period */
export function priceOf(period) {
  return period?.settled ?? period?.forecast?.[1] ?? null;
}

/** The start of the period that holds an instant. @param {number} ts @param {number} step */
export function floorTo(ts, step) {
  return Math.floor(ts / step) * step;
}

/** The days of the periods by the reader's clock. @param {Pick<Scene, "periods" | "wording">} scene */
export function daysOf({ periods, wording }) {
  const all = [...periods.keys()];
  return wording.daysOf(wording.midnight(all[0]), all[all.length - 1] + 1);
}

/**
 * Joins consecutive periods.
 * @param {{ts: number}[]} periods ascending
 * @param {number} step the length of a period in seconds
 * @returns {Span[]}
 */
export function joinPeriods(periods, step) {
  /** @type {Span[]} */
  const joined = [];
  for (const { ts } of periods) {
    const last = joined.at(-1);
    if (last?.to === ts) last.to += step;
    else joined.push({ from: ts, to: ts + step });
  }
  return joined;
}

/** The spans of the hours for which `wording.isNightRate` is true. @param {import("./chart.js").Day[]} days @param {import("./wording.js").Wording} wording */
export const nightsOf = (days, wording) => joinPeriods(days.flatMap(({ hours }) => hours.filter(({ ts }) => wording.isNightRate(ts))), HOUR_S);

/** The price levels, from the cheapest to the most expensive fifth of a day's periods. */
export const LEVELS = ["very_low", "low", "normal", "high", "very_high"];

/** @type {WeakMap<object, Map<number, string>>} the earlier results of `levelsOf`, by `scene.periods` */
const knownLevels = new WeakMap();

/**
 * Returns the level of each period with a price or a forecast, among the periods of its day. A forecast counts with its
 * median. Equal prices get the level of their mean rank, so if all prices of a day are equal, all levels are `normal`.
 * @param {Scene} scene
 * @returns {Map<number, string>}
 */
export function levelsOf(scene) {
  const levels = knownLevels.get(scene.periods) ?? new Map(daysOf(scene).flatMap((day) => levelsOfDay(scene.periods, day)));
  knownLevels.set(scene.periods, levels);
  return levels;
}

/**
 * @param {Map<number, Period>} periods @param {import("./chart.js").Day} day
 * @returns {[number, string][]}
 */
function levelsOfDay(periods, { start, end }) {
  /** @type {[number, number][]} */
  const priced = [];
  for (const [ts, period] of periods) {
    const price = priceOf(period);
    if (ts >= start && ts < end && price !== null) priced.push([ts, price]);
  }
  const prices = priced.map(([, price]) => price).sort((a, b) => a - b);
  return priced.map(([ts, price]) => {
    const below = prices.indexOf(price);
    const middle = (below + prices.lastIndexOf(price) + 1) / 2 / prices.length;
    return [ts, LEVELS[Math.min(Math.floor(middle * LEVELS.length), LEVELS.length - 1)]];
  });
}
