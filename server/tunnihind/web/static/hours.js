// The hours of a series: what is settled and what was forecast for each.

export const HOUR_S = 3600;

/**
 * @typedef {{ts: number, eurMwh: number, eurKwh: number}} Actual
 * @typedef {{ts: number, p10: number, p50: number, p90: number, p10Kwh: number, p50Kwh: number, p90Kwh: number}} Point
 * @typedef {{now: number, freeUntil: number, actuals: Actual[], forecast: Point[]}} Series
 * @typedef {{ts: number, settled: number | null, forecast: [number, number, number] | null}} Hour
 *   prices in the reader's unit; a forecast is p10, p50 and p90
 */

/**
 * Returns all hours from the first to the last, those of which nothing is known included.
 * @param {Series} series
 * @param {"kwh" | "mwh"} unit cents per kWh with VAT, or EUR/MWh without
 * @returns {Map<number, Hour>}
 */
export function hoursOf(series, unit) {
  const settled = new Map(series.actuals.map((hour) => [hour.ts, unit === "kwh" ? cents(hour.eurKwh) : hour.eurMwh]));
  const forecast = new Map(series.forecast.map((hour) => [hour.ts, percentiles(hour, unit)]));
  const known = [...settled.keys(), ...forecast.keys()];
  /** @type {Map<number, Hour>} */
  const hours = new Map();
  if (!known.length) return hours;
  for (let ts = Math.min(...known); ts <= Math.max(...known); ts += HOUR_S) {
    hours.set(ts, { ts, settled: settled.get(ts) ?? null, forecast: forecast.get(ts) ?? null });
  }
  return hours;
}

/** The price of an hour: settled, or else the forecast's median. @param {Hour | undefined} hour */
export function priceOf(hour) {
  return hour?.settled ?? hour?.forecast?.[1] ?? null;
}

/** The start of the hour that holds an instant. @param {number} ts */
export function floorHour(ts) {
  return Math.floor(ts / HOUR_S) * HOUR_S;
}

/** @param {Point} hour @param {"kwh" | "mwh"} unit @returns {[number, number, number]} */
function percentiles(hour, unit) {
  if (unit === "mwh") return [hour.p10, hour.p50, hour.p90];
  return [cents(hour.p10Kwh), cents(hour.p50Kwh), cents(hour.p90Kwh)];
}

/** Cents of a price in euros with 4 decimals, without rounding errors of binary fractions. @param {number} euros */
function cents(euros) {
  return Math.round(euros * 10000) / 100;
}
