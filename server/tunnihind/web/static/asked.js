// What the reader asks the finder for: how long and at which power, or how much energy. Pure functions over what is typed.

import { HOUR_S } from "./periods.js";

const HOURS = { usual: 3, most: 24 };
const KW = { usual: 2, least: 0.1, most: 100 };

/**
 * @typedef {{hours: number, kw: number, kwh: number, isByEnergy: boolean, isUsualTime: boolean}} Asked
 *   `hours` of whole periods, `kwh` what is used in them, `isByEnergy` whether the energy was asked for and not the time
 */

/**
 * Understands what is typed or stands in an address. An energy, where there is one, decides how long it takes.
 * @param {{hours: string, kw: string, kwh: string}} typed @param {number} step how long a period is
 * @returns {Asked}
 */
export function askedFor(typed, step) {
  const kw = numberFrom(typed.kw, 0.1, KW.least, KW.most) ?? KW.usual;
  const kwh = numberFrom(typed.kwh, 0.1, 0.1, HOURS.most * kw);
  const shortest = step / HOUR_S;
  const hours = kwh === null
    ? numberFrom(typed.hours, shortest, shortest, HOURS.most) ?? HOURS.usual
    // A tiny rest is only a rounding error.
    : Math.ceil(kwh / kw / shortest - 1e-9) * shortest;
  return { hours, kw, kwh: kwh ?? Number((hours * kw).toFixed(3)), isByEnergy: kwh !== null, isUsualTime: hours === HOURS.usual };
}

/** Reads a number of whole units, within bounds; null where there is none. @param {string} text @param {number} unit @param {number} least @param {number} most */
function numberFrom(text, unit, least, most) {
  if (!text.trim() || !Number.isFinite(Number(text))) return null;
  const rounded = Number((Math.round(Number(text) / unit) * unit).toFixed(3));
  return Math.min(Math.max(rounded, least), most);
}
