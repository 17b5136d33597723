// A market price as it is shown: in the reader's unit, with fees and VAT, rounded as the API does. `Display.amount` does the same.

/** @typedef {[since: number, rate: number][]} VatRates  fractions, each from an instant on, the oldest first */
/** @typedef {[since: number, eurMwh: number][]} Surcharge  what a household pays on top, without VAT; the first counts before, too */

/**
 * Returns what turns EUR/MWh without VAT of an instant into cents per kWh or EUR/MWh with the VAT that applies then.
 * @param {"kwh" | "mwh"} unit @param {VatRates} rates @param {Surcharge} surcharge
 * @returns {(eurMwh: number, ts: number) => number}
 */
export function amountsIn(unit, rates, surcharge = []) {
  const whole = (/** @type {number} */ eurMwh, /** @type {number} */ ts) => eurMwh + (surcharge.findLast(([since]) => since <= ts) ?? surcharge[0] ?? [0, 0])[1];
  const factor = (/** @type {number} */ ts) => 1 + (rates.findLast(([since]) => since <= ts)?.[1] ?? 0);
  if (unit === "mwh") return (eurMwh, ts) => rounded(whole(eurMwh, ts) * factor(ts), 2);
  // The API gives euros with 4 decimals; these are cents of them, without rounding errors of binary fractions.
  return (eurMwh, ts) => Math.round(rounded((whole(eurMwh, ts) / 1000) * factor(ts), 4) * 10000) / 100;
}

/** Euros per kWh for 1 in each unit. */
export const EUROS_PER_KWH = { kwh: 0.01, mwh: 0.001 };

/** Rounds to some decimals; what lies exactly in the middle goes to the even digit. @param {number} value @param {number} decimals */
function rounded(value, decimals) {
  const isMiddle = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  const scale = 10 ** decimals;
  return isMiddle ? (2 * Math.round((value * scale) / 2)) / scale : Number(value.toFixed(decimals));
}
