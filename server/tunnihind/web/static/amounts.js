// What a market price is to the page's reader: in the unit and with the VAT of his choice, rounded as the API does.

/** @typedef {[since: number, rate: number][]} VatRates  fractions, each from an instant on, the oldest first */

/**
 * Returns what turns EUR/MWh without VAT of an instant into cents per kWh or EUR/MWh with the VAT that applies then.
 * @param {"kwh" | "mwh"} unit @param {VatRates} rates
 * @returns {(eurMwh: number, ts: number) => number}
 */
export function amountsIn(unit, rates) {
  const factor = (/** @type {number} */ ts) => 1 + (rates.findLast(([since]) => since <= ts)?.[1] ?? 0);
  if (unit === "mwh") return (eurMwh, ts) => rounded(eurMwh * factor(ts), 2);
  // The API gives euros with 4 decimals; these are cents of them, without rounding errors of binary fractions.
  return (eurMwh, ts) => Math.round(rounded((eurMwh / 1000) * factor(ts), 4) * 10000) / 100;
}

/** Rounds to some decimals; what lies exactly in the middle goes to the even digit. @param {number} value @param {number} decimals */
function rounded(value, decimals) {
  const isMiddle = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  const scale = 10 ** decimals;
  return isMiddle ? (2 * Math.round((value * scale) / 2)) / scale : Number(value.toFixed(decimals));
}
