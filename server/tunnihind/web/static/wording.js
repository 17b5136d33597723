// Amounts, numbers, instants and sentences in the reader's language and unit.

import { Clock, DAY_S, HOUR_S, TINTS, tintOf } from "./chart.js";

/** @typedef {[since: number, rate: number][]} VatRates  fractions, each valid from an instant, the oldest first */
/** @typedef {[since: number, eurMwh: number][]} Surcharge  a household's fees on top, without VAT; the first also counts before its instant */

/**
 * Returns a function from EUR/MWh without VAT at an instant to cents per kWh or EUR/MWh with the VAT of that instant.
 * @param {"kwh" | "mwh"} unit @param {VatRates} rates @param {Surcharge} surcharge
 * @returns {(eurMwh: number, ts: number) => number}
 */
export function amountsIn(unit, rates, surcharge = []) {
  const whole = (/** @type {number} */ eurMwh, /** @type {number} */ ts) => eurMwh + (surcharge.findLast(([since]) => since <= ts) ?? surcharge[0] ?? [0, 0])[1];
  const factor = (/** @type {number} */ ts) => 1 + (rates.findLast(([since]) => since <= ts)?.[1] ?? 0);
  if (unit === "mwh") return (eurMwh, ts) => rounded(whole(eurMwh, ts) * factor(ts), 2);
  // The API gives euros with 4 decimals; this makes cents of them without the rounding errors of binary fractions.
  return (eurMwh, ts) => Math.round(rounded((whole(eurMwh, ts) / 1000) * factor(ts), 4) * 10000) / 100;
}

/** Euros per kWh for 1 in each unit. */
export const EUROS_PER_KWH = { kwh: 0.01, mwh: 0.001 };

/** Rounds to some decimals; an exact middle goes to the even digit. @param {number} value @param {number} decimals */
function rounded(value, decimals) {
  const isMiddle = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  const scale = 10 ** decimals;
  return isMiddle ? (2 * Math.round((value * scale) / 2)) / scale : Number(value.toFixed(decimals));
}

/** @typedef {Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>> & {decimal: string}} Texts  a text may have a form for each plural of its language */

/**
 * @typedef {{lang: string, unit: "kwh" | "mwh", unitSymbol: string, unitNamed: string, vat: VatRates, surcharge?: Surcharge, step: number, beyond: import("./periods.js").Forecast[], scale: number[], tz: string, clock: string, address: string | null, hasNights: boolean, holidays: string[], dates: {weekdays: string[], months: string[]}, texts: Texts}} PageData
 *   `tz` is the reader's time zone, `clock` the market's, which nights and holidays follow
 */

export class Wording extends Clock {
  /** @param {PageData} data */
  constructor(data) {
    super(data.tz);
    this.unitSymbol = data.unitSymbol;
    this.unitNamed = data.unitNamed;
    this.eurosPerKwh = EUROS_PER_KWH[data.unit];
    this.amount = amountsIn(data.unit, data.vat, data.surcharge);
    this.scale = data.scale;
    this.texts = data.texts;
    this.plurals = new Intl.PluralRules(data.lang);
    this.dates = data.dates;
    this.hasNights = data.hasNights;
    this.holidays = new Set(data.holidays);
    this.market = new Clock(data.clock);
  }

  /** A text; if it has plural forms, the one for the number `n`. @param {string} key @param {Record<string, string | number>} gaps */
  say(key, gaps = {}) {
    const said = this.texts[key];
    const text = typeof said === "string" ? said : (said[this.plurals.select(Number(gaps.n))] ?? "");
    return text.replace(/\{(\w+)\}/g, (_, name) => (typeof gaps[name] === "number" ? this.brief(gaps[name]) : gaps[name]));
  }

  /** @param {number} value */
  price(value, decimals = 2) {
    const written = value.toFixed(decimals).replace(/^-(0[.,]?0*)$/, "$1");
    return written.replace("-", "\u2212").replace(".", this.texts.decimal);
  }

  /** A price: a published one with all decimals, a forecast as "about" and a whole number. @param {number} value @param {boolean} isForecast */
  told(value, isForecast) {
    return isForecast ? this.say("about", { price: this.price(value, 0) }) : this.price(value);
  }

  /** A sum in euros. @param {number} value @param {boolean} isForecast */
  euros(value, isForecast) {
    return isForecast ? this.say("about", { price: this.price(value) }) : this.price(value);
  }

  /** The colour of a price against the last 30 days; prices below zero have their own. @param {number} value */
  tint(value) {
    return TINTS[tintOf(value, this.scale)];
  }

  /** A number without trailing zeros. @param {number} value */
  brief(value) {
    return String(Number(value.toFixed(2))).replace(".", this.texts.decimal);
  }

  /** The range of a forecast; no dash next to a minus sign, which would look like another minus. @param {[number, number, number]} forecast */
  band([low, , high]) {
    return `${this.price(low, 0)}${low < 0 ? " … " : "–"}${this.price(high, 0)}`;
  }

  /** The clock's time, with its zone in the hour that autumn repeats. @param {number} ts */
  clock(ts) {
    const time = this.wall(ts).slice(11);
    return this.isRepeated(ts) ? `${time} ${this.offset(ts) > this.offset(ts + HOUR_S) ? "EEST" : "EET"}` : time;
  }

  /** The day of an instant, as `Texts.short_date` in texts.py writes it. @param {number} ts */
  day(ts) {
    return this.dayNames(ts)[0];
  }

  /** The day of an instant: "today" or "tomorrow" if it is `now`'s day or the next, else the date. @param {number} ts @param {number} now */
  dayFrom(ts, now) {
    const day = this.wall(ts).slice(0, 10);
    if (day === this.wall(now).slice(0, 10)) return this.say("days.today");
    const before = new Date(Date.parse(day) - DAY_S * 1000).toISOString().slice(0, 10);
    return before === this.wall(now).slice(0, 10) ? this.say("days.tomorrow") : this.day(ts);
  }

  /** @override @param {number} ts */
  hourText(ts) {
    return this.wall(ts).slice(11);
  }

  /** @override @param {number} ts */
  dayNames(ts) {
    const date = this.wall(ts).slice(0, 10);
    const weekday = this.dates.weekdays[(new Date(date).getUTCDay() + 6) % 7];
    const gaps = { weekday, day: String(Number(date.slice(8))), month: this.dates.months[Number(date.slice(5, 7)) - 1] };
    return [this.say("shortDate", gaps), this.say("shorterDate", gaps), weekday];
  }

  /** @param {import("./chart.js").Span} span */
  span({ from, to }) {
    return `${this.clock(from)}–${this.clock(to)}`;
  }

  /** Returns start and end, with the end's day if it differs; midnight belongs to the day it ends. @param {import("./chart.js").Span} span @param {number} now */
  spanOverDays(span, now) {
    const [first, last] = [span.from, span.to - 1].map((ts) => this.dayWithin(ts, now));
    return first === last ? this.span(span) : `${this.clock(span.from)} – ${last} ${this.clock(span.to)}`;
  }

  /** The day of an instant within a sentence: today and tomorrow in lower case, days of the week unchanged. @param {number} ts @param {number} now */
  dayWithin(ts, now) {
    const name = this.dayFrom(ts, now);
    return name === this.day(ts) ? name : name.toLowerCase();
  }

  /**
   * Whether network tariffs count an hour as night: from 22 to 7 by the market's clock, on weekends and public
   * holidays. No hour is night unless the shown prices include a night rate.
   * @param {number} ts
   */
  isNightRate(ts) {
    if (!this.hasNights) return false;
    const [day, time] = this.market.wall(ts).split("T");
    return time >= "22" || time < "07" || new Date(day).getUTCDay() % 6 === 0 || this.holidays.has(day);
  }

  /**
   * The words about a period; one or two lines say what kind of price it has.
   * @param {import("./periods.js").Period | undefined} period @param {import("./chart.js").Span} span
   */
  period(period, span) {
    const when = `${this.day(span.from)} ${this.span(span)}`;
    if (!period || (period.settled === null && !period.forecast)) return { when, price: "", what: [this.say("unknown")] };
    if (period.settled === null && period.forecast) {
      const what = [this.say("forecast"), this.say("likely", { band: this.band(period.forecast) })];
      const price = this.say("about", { price: `${this.price(period.forecast[1], 0)} ${this.unitSymbol}` });
      return { when, price, what };
    }
    const price = `${this.price(/** @type {number} */ (period.settled))} ${this.unitSymbol}`;
    if (!period.forecast) return { when, price, what: [this.say("settled")] };
    const then = this.say("forecastThen", { price: this.price(period.forecast[1], 0), band: this.band(period.forecast) });
    return { when, price, what: [this.say("settled"), then] };
  }
}
