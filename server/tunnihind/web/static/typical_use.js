// Typical years of use, for readers without a file. The shapes are rough assumptions of ours, not measurements.

import { DAY_S, HOUR_S, utcOffset } from "./local_time.js";

const FLAT = Array(24).fill(1);
/** The hours of a day from midnight on: little at night, some in the morning, most in the evening. */
const EVENINGS = [4, 3, 3, 3, 3, 4, 6, 8, 7, 6, 6, 6, 6, 6, 6, 7, 9, 11, 12, 12, 11, 9, 7, 5];
/** At home in the daytime as well, as on rest days. */
const AT_HOME = [4, 4, 3, 3, 3, 3, 4, 6, 8, 9, 9, 9, 9, 9, 8, 8, 9, 11, 12, 12, 11, 9, 7, 5];
/** A car or a storage heater that is charged at night. */
const NIGHTS = [14, 14, 14, 14, 12, 8, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 4, 5, 6, 6, 5, 5, 4, 10];

const EVEN_MONTHS = Array(12).fill(1);
/** From January on: more light in winter. */
const LIGHT = [1.25, 1.15, 1.05, 0.95, 0.85, 0.8, 0.8, 0.85, 0.95, 1.05, 1.15, 1.25];
/** Heated by a heat pump or by electricity. */
const HEATED = [2.2, 2.1, 1.7, 1, 0.5, 0.3, 0.3, 0.3, 0.5, 1, 1.5, 2];

/** @type {Record<string, {workday: number[], restDay: number[], months: number[]}>} */
export const PROFILES = {
  home: { workday: EVENINGS, restDay: AT_HOME, months: LIGHT },
  heated: { workday: EVENINGS.map((weight) => weight + 6), restDay: AT_HOME.map((weight) => weight + 6), months: HEATED },
  night: { workday: NIGHTS, restDay: NIGHTS, months: LIGHT },
  flat: { workday: FLAT, restDay: FLAT, months: EVEN_MONTHS },
};

/**
 * Spreads a yearly consumption over the hours of a time as long as a year.
 * @param {string} profile @param {number} kwh @param {number} from @param {number} to instants on the hour
 * @returns {import("./contracts.js").Use}
 */
export function typicalUse(profile, kwh, from, to) {
  const { workday, restDay, months } = PROFILES[profile];
  /** @type {[number, number][]} */
  const weights = [];
  for (let ts = from; ts < to; ts += HOUR_S) {
    const wall = ts + utcOffset(ts);
    const date = new Date(wall * 1000);
    const hours = date.getUTCDay() % 6 ? workday : restDay;
    const ofDay = hours.reduce((sum, weight) => sum + weight, 0);
    weights.push([ts, (months[date.getUTCMonth()] * hours[Math.floor((wall % DAY_S) / HOUR_S)]) / ofDay]);
  }
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return { step: HOUR_S, entries: weights.map(([ts, weight]) => [ts, (kwh * weight) / all]) };
}
