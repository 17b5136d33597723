// How expensive a period is within its day: the same five levels as the server tells.

import { daysOf } from "./days.js";
import { priceOf } from "./periods.js";

/** From the cheapest to the dearest fifth. */
export const LEVELS = ["very_low", "low", "normal", "high", "very_high"];

/** @type {WeakMap<object, Map<number, string>>} what has been worked out for a set of periods */
const known = new WeakMap();

/**
 * Tells the level of each period with a price. Equal prices share the middle of their places, so a day of one price is
 * normal throughout.
 * @param {import("./backdrop.js").Scene} scene
 * @returns {Map<number, string>}
 */
export function levelsOf(scene) {
  const levels = known.get(scene.periods) ?? new Map(daysOf(scene).flatMap((day) => levelsOfDay(scene.periods, day)));
  known.set(scene.periods, levels);
  return levels;
}

/**
 * @param {Map<number, import("./periods.js").Period>} periods @param {import("./days.js").Day} day
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
