// The hours or quarter-hours of an answer of the API: what is settled and what was forecast for each.

export const QUARTER_S = 900;
export const HOUR_S = 3600;
export const DAY_S = 24 * HOUR_S;

/**
 * @typedef {{ts: number, eurMwh: number}} Settled
 * @typedef {{ts: number, p10: number, p50: number, p90: number}} Forecast
 * @typedef {{now: number, freeUntil: number, step: number, settled: Settled[], forecast: Forecast[]}} Prices
 *   EUR/MWh without VAT, for periods of `step` seconds
 * @typedef {{ts: number, settled: number | null, forecast: [number, number, number] | null}} Period
 *   prices in the reader's unit; a forecast is p10, p50 and p90
 */

/**
 * Returns all periods from the first to the last, those of which nothing is known included.
 * @param {Prices} prices
 * @param {(eurMwh: number, ts: number) => number} amount what a price is in the reader's unit
 * @returns {Map<number, Period>}
 */
export function periodsOf({ settled, forecast, step }, amount) {
  const prices = new Map(settled.map(({ ts, eurMwh }) => [ts, amount(eurMwh, ts)]));
  /** @type {Map<number, [number, number, number]>} */
  const percentiles = new Map(
    forecast.map(({ ts, p10, p50, p90 }) => [ts, [amount(p10, ts), amount(p50, ts), amount(p90, ts)]]),
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

/** The price of a period: settled, or else the forecast's median. @param {Period | undefined} period */
export function priceOf(period) {
  return period?.settled ?? period?.forecast?.[1] ?? null;
}

/** The start of the period that holds an instant. @param {number} ts @param {number} step */
export function floorTo(ts, step) {
  return Math.floor(ts / step) * step;
}

/** The starts of the hours that some periods are in. @param {Map<number, Period>} periods */
export function hoursOf(periods) {
  return new Set([...periods.keys()].map((ts) => floorTo(ts, HOUR_S)));
}
