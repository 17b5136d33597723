// Computes what past use would cost now under different contracts. `core/comparison.py` computes the same, and tests run
// both on the same cases.

import { DAY_S, HOUR_S, monthOf, utcOffset } from "./local_time.js";

/**
 * @typedef {{period: string, months: number[], weekdays: number[], starts: number, ends: number, onHolidays: boolean}} RateTimes
 *   months from 1, weekdays from Monday = 0, hours in [starts, ends)
 * @typedef {{fees: Record<string, number>, clock: RateTimes[]}} Package  fees in EUR/kWh with VAT by period
 * @typedef {{vat: number, networkVat: number, otherFees: number, packages: Record<string, Package>, holidays: string[]}} Rates
 *   VAT on electricity and on network rates, fractions; the fees beside the network rates in EUR/kWh with VAT
 * @typedef {{day: number, night: number, times: Omit<RateTimes, "period">}} OwnRates  EUR/kWh without VAT
 * @typedef {{margin: number, spotMonthly: number, fixed: number | null, fixedMonthly: number, cap: number | null, zeroBelow: boolean}} Offer
 *   EUR/kWh and EUR a month without VAT; with `zeroBelow`, negative market prices count as zero
 * @typedef {{entries: [ts: number, kwh: number][], step: number}} Use  in order of time; the step is 900 or 3600 seconds
 * @typedef {{byStart: Map<number, number>, step: number}} Prices  EUR/MWh without VAT
 * @typedef {{kwh: number, spot: number, fixed: number | null, half: number | null, capped: number | null}} Bills  EUR with VAT
 */

/** @type {(keyof Bills & ("spot" | "fixed" | "half" | "capped"))[]} */
export const CONTRACTS = ["spot", "fixed", "half", "capped"];

/**
 * Returns a function that gives a package's fees at an instant, in EUR/kWh with VAT.
 * @param {Rates} rates @param {string} name @returns {(ts: number) => number}
 */
export function feesOf(rates, name) {
  const { fees, clock } = rates.packages[name];
  const holidays = new Set(rates.holidays);
  /** @type {Map<number, number[]>} */
  const ofDays = new Map();
  /** @param {number} day */
  const feesOfDay = (day) => {
    const date = new Date(day * DAY_S * 1000);
    const weekday = (date.getUTCDay() + 6) % 7;
    const isHoliday = holidays.has(date.toISOString().slice(0, 10));
    const times = clock.filter((one) => one.months.includes(date.getUTCMonth() + 1) && one.weekdays.includes(weekday) && (one.onHolidays || !isHoliday));
    return Array.from({ length: 24 }, (_, hour) => fees[times.find(({ starts, ends }) => starts <= hour && hour < ends)?.period ?? "night"]);
  };
  return (ts) => {
    const wall = ts + utcOffset(ts);
    const day = Math.floor(wall / DAY_S);
    const ofDay = ofDays.get(day) ?? feesOfDay(day);
    ofDays.set(day, ofDay);
    return ofDay[Math.floor((wall % DAY_S) / HOUR_S)];
  };
}

/**
 * Returns a package with the reader's own network rates, and with the other fees of all packages. If the day rate ends
 * before it starts, it goes on until midnight, and from midnight until its end.
 * @param {Rates} rates @param {OwnRates} own @returns {Package}
 */
export function ownPackage({ networkVat, otherFees }, { day, night, times }) {
  const fee = (/** @type {number} */ rate) => rate * (1 + networkVat) + otherFees;
  const { starts, ends } = times;
  const spans = starts < ends ? [{ starts, ends }] : [{ starts, ends: 24 }, { starts: 0, ends }];
  return { fees: { day: fee(day), night: fee(night) }, clock: spans.map((span) => ({ ...times, ...span, period: "day" })) };
}

/**
 * Returns each month's bills, and the months that are left out because they lack a market price.
 * @param {Use} use @param {Prices} prices @param {Rates} rates @param {string} packageName @param {Offer} offer
 */
export function compareContracts(use, prices, rates, packageName, offer) {
  const feesAt = feesOf(rates, packageName);
  const gross = 1 + rates.vat;
  const part = Math.min(use.step, prices.step);
  /** @type {Map<string, Bills>} */
  const months = new Map();
  const unpriced = new Set();
  let month = "";
  let day = NaN;
  for (const [start, kwh] of use.entries) {
    // A month begins at a local midnight, so the month is the same for all periods of a local day.
    const itsDay = Math.floor((start + utcOffset(start)) / DAY_S);
    if (itsDay !== day) [day, month] = [itsDay, monthOf(start)];
    for (let ts = start; ts < start + use.step; ts += part) {
      const eurMwh = prices.byStart.get(ts - (ts % prices.step));
      if (eurMwh === undefined) {
        unpriced.add(month);
        continue;
      }
      const bills = months.get(month) ?? monthlyFees(offer, gross);
      months.set(month, bills);
      const fees = feesAt(ts);
      const used = (kwh * part) / use.step;
      const spot = spotPrice(eurMwh, offer);
      bills.kwh += used;
      bills.spot += used * (spot * gross + fees);
      if (bills.fixed !== null && bills.half !== null && offer.fixed !== null) {
        bills.fixed += used * (offer.fixed * gross + fees);
        bills.half += used * (((spot + offer.fixed) / 2) * gross + fees);
      }
      if (bills.capped !== null && offer.cap !== null) bills.capped += used * (Math.min(spot, offer.cap) * gross + fees);
    }
  }
  for (const left of unpriced) months.delete(left);
  return { months, unpriced: [...unpriced].sort() };
}

/** The market price with the margin, in EUR/kWh without VAT. @param {number} eurMwh @param {Offer} offer */
const spotPrice = (eurMwh, { zeroBelow, margin }) => (zeroBelow ? Math.max(eurMwh, 0) : eurMwh) / 1000 + margin;

/** @param {Offer} offer @param {number} gross @returns {Bills} */
function monthlyFees({ spotMonthly, fixed, fixedMonthly, cap }, gross) {
  const spot = spotMonthly * gross;
  return { kwh: 0, spot, fixed: fixed === null ? null : fixedMonthly * gross, half: fixed === null ? null : spot, capped: cap === null ? null : spot };
}

/** The sum of several months. @param {Iterable<Bills>} months @returns {Bills} */
export function totalOf(months) {
  /** @type {Bills} */
  const total = { kwh: 0, spot: 0, fixed: null, half: null, capped: null };
  for (const bills of months) {
    total.kwh += bills.kwh;
    for (const name of CONTRACTS) if (bills[name] !== null) total[name] = (total[name] ?? 0) + bills[name];
  }
  return total;
}

/** The use by the hour. @param {Use} use @returns {Use} */
export function inHours({ entries, step }) {
  if (step === HOUR_S) return { entries, step };
  /** @type {Map<number, number>} */
  const hours = new Map();
  for (const [ts, kwh] of entries) hours.set(ts - (ts % HOUR_S), (hours.get(ts - (ts % HOUR_S)) ?? 0) + kwh);
  return { entries: [...hours], step: HOUR_S };
}

const MOVED_KWH = 3;
const MOVED_TO_HOURS = 3;

/**
 * Returns which share of the use fell into each day's cheapest third of hours, and what moving 3 kWh a day would have
 * saved in EUR with VAT: taken evenly from all of the day's use, and spread over the day's three cheapest hours. A day
 * on which that saves nothing is left as it was. Hours are ranked by the price with the package's fees.
 * @param {Use} use @param {Prices} prices hourly @param {Rates} rates @param {string} packageName @param {Offer} offer
 */
export function timingOf(use, prices, rates, packageName, offer) {
  const feesAt = feesOf(rates, packageName);
  /** @type {Map<number, Map<number, number>>} */
  const days = new Map();
  for (const [ts, kwh] of inHours(use).entries) {
    const day = Math.floor((ts + utcOffset(ts)) / DAY_S);
    const hours = days.get(day) ?? new Map();
    days.set(day, hours.set(ts, kwh));
  }
  let [kwh, inCheapestThird, saved] = [0, 0, 0];
  for (const [day, hours] of days) {
    const midnight = day * DAY_S - utcOffset(day * DAY_S);
    /** @type {{price: number, kwh: number}[]} */
    const priced = [];
    for (let ts = midnight; ts + utcOffset(ts) < (day + 1) * DAY_S; ts += HOUR_S) {
      const eurMwh = prices.byStart.get(ts);
      if (eurMwh === undefined) continue;
      priced.push({ price: spotPrice(eurMwh, offer) * (1 + rates.vat) + feesAt(ts), kwh: hours.get(ts) ?? 0 });
    }
    if (!priced.length) continue;
    priced.sort((one, other) => one.price - other.price);
    const used = sum(priced.map((hour) => hour.kwh));
    kwh += used;
    inCheapestThird += sum(priced.slice(0, Math.floor(priced.length / 3)).map((hour) => hour.kwh));
    const cheapest = priced.slice(0, MOVED_TO_HOURS);
    const paid = used ? sum(priced.map((hour) => hour.kwh * hour.price)) / used : 0;
    const gap = paid - sum(cheapest.map((hour) => hour.price)) / cheapest.length;
    saved += Math.max(0, gap) * Math.min(MOVED_KWH, used);
  }
  return { cheapestThird: kwh ? inCheapestThird / kwh : 0, saved };
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);
