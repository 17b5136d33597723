// Writes prices, numbers, times and sentences in the reader's language, unit and time zone.

import { Clock, DAY_S, HOUR_S, TINTS, tintOf } from "./chart.js";

/** @typedef {[since: number, rate: number][]} VatRates  fractions, each valid from an instant, the oldest first */
/** @typedef {[since: number, eurMwh: number, isNightRate: boolean][]} Surcharge  from each instant `since` on, the sum of a household's fees in EUR/MWh without VAT, and whether the sum contains the network's night rate; the first sum also applies before its `since` */

/** Returns the entry of a surcharge for an instant, or undefined if the surcharge is empty. @param {Surcharge} surcharge @param {number} ts */
const surchargeStepAt = (surcharge, ts) => surcharge.findLast(([since]) => since <= ts) ?? surcharge[0];

/**
 * Returns a function that adds an instant's fees and VAT to a market price, and converts the sum to the reader's unit.
 * @param {"kwh" | "mwh"} unit @param {VatRates} rates @param {Surcharge} surcharge
 * @returns {(eurMwh: number, ts: number) => number}
 */
export function amountConverter(unit, rates, surcharge = []) {
  const whole = (/** @type {number} */ eurMwh, /** @type {number} */ ts) => eurMwh + (surchargeStepAt(surcharge, ts)?.[1] ?? 0);
  const factor = (/** @type {number} */ ts) => 1 + (rates.findLast(([since]) => since <= ts)?.[1] ?? 0);
  if (unit === "mwh") return (eurMwh, ts) => roundedHalfEven(whole(eurMwh, ts) * factor(ts), 2);
  // As in the API, euros have 4 decimals. The outer rounding removes the errors of binary fractions from the cents.
  return (eurMwh, ts) => Math.round(roundedHalfEven((whole(eurMwh, ts) / 1000) * factor(ts), 4) * 10000) / 100;
}

/** A price of 1 in each unit, in euros per kWh. */
const EUROS_PER_KWH = { kwh: 0.01, mwh: 0.001 };
/** Forecasts from this amount in cents on are written without decimals, as on the server. */
const WHOLE_CENTS_FROM = 9.95;

/** Rounds to a number of decimals. As in Python, an exact middle is rounded to the even digit. @param {number} value @param {number} decimals */
function roundedHalfEven(value, decimals) {
  const isMiddle = Math.abs((value * 2 ** (decimals + 1)) % 2) === 1;
  const scale = 10 ** decimals;
  return isMiddle ? (2 * Math.round((value * scale) / 2)) / scale : Number(value.toFixed(decimals));
}

/** @typedef {Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>> & {decimal: string}} Texts  a text has one form, or a form for each plural category of its language */

/**
 * @typedef {{lang: string, unit: "kwh" | "mwh", unitSymbol: string, unitNamed: string, vat: VatRates, surcharge?: Surcharge, step: number, beyond: import("./periods.js").Forecast[], scale: number[], tz: string, address: string | null, dates: {weekdays: string[], months: string[]}, texts: Texts}} PageData
 *   `tz` is the reader's time zone
 */

export class Wording extends Clock {
  /** @param {PageData} data */
  constructor(data) {
    super(data.tz);
    this.unitSymbol = data.unitSymbol;
    this.unitNamed = data.unitNamed;
    this.eurosPerKwh = EUROS_PER_KWH[data.unit];
    this.surcharge = data.surcharge ?? [];
    this.amount = amountConverter(data.unit, data.vat, this.surcharge);
    this.scale = data.scale;
    this.texts = data.texts;
    this.plurals = new Intl.PluralRules(data.lang);
    this.dates = data.dates;
  }

  /** Returns a text with `gaps` in its placeholders. If the text has plural forms, returns the form for the number `gaps.n`. @param {string} key @param {Record<string, string | number>} gaps */
  say(key, gaps = {}) {
    const said = this.texts[key];
    const text = typeof said === "string" ? said : (said[this.plurals.select(Number(gaps.n))] ?? "");
    return text.replace(/\{(\w+)\}/g, (_, name) => (typeof gaps[name] === "number" ? this.briefNumber(gaps[name]) : gaps[name]));
  }

  /** @param {number} value */
  priceText(value, decimals = 2) {
    const written = value.toFixed(decimals).replace(/^-(0[.,]?0*)$/, "$1");
    return written.replace("-", "\u2212").replace(".", this.texts.decimal);
  }

  /** Writes the price of a forecast: below 10 cents with one decimal, because small prices would look equal. @param {number} value */
  forecastText(value) {
    return this.priceText(value, this.forecastDecimals(value));
  }

  /** @param {number} value */
  forecastDecimals(value) {
    return this.eurosPerKwh === EUROS_PER_KWH.kwh && Math.abs(value) < WHOLE_CENTS_FROM ? 1 : 0;
  }

  /** Writes a published price with two decimals, and a forecast with "about". @param {number} value @param {boolean} isForecast */
  priceWithAbout(value, isForecast) {
    return isForecast ? this.say("about", { price: this.forecastText(value) }) : this.priceText(value);
  }

  /** Writes an amount in euros. If the amount is a forecast, adds "about". @param {number} value @param {boolean} isForecast */
  eurosText(value, isForecast) {
    return isForecast ? this.say("about", { price: this.priceText(value) }) : this.priceText(value);
  }

  /** The CSS class of a price's colour on the page's colour scale. Prices below zero have their own colour. @param {number} value */
  tintClass(value) {
    return TINTS[tintOf(value, this.scale)];
  }

  /** What a price is called on the page's price scale. Without a scale, returns "". `scale.py` has the same rule. @param {number} value */
  priceWord(value) {
    if (!this.scale.length) return "";
    const isNearlyFree = value >= 0 && value < 0.01 / this.eurosPerKwh;
    return this.say(`price.${isNearlyFree ? "free" : this.tintClass(value)}`);
  }

  /** Writes a number with at most two decimals, without trailing zeros. @param {number} value */
  briefNumber(value) {
    return String(Number(value.toFixed(2))).replace(".", this.texts.decimal);
  }

  /** Writes a forecast's range from p10 to p90, in whole numbers. The range contains the written median. If p10 is written as negative, an ellipsis joins the numbers, because a dash would look like a minus sign. @param {[number, number, number]} forecast */
  intervalText([low, median, high]) {
    const written = Number(median.toFixed(this.forecastDecimals(median)));
    const lower = this.priceText(Math.min(Number(low.toFixed(0)), Math.floor(written)), 0);
    return `${lower}${lower.startsWith("\u2212") ? " … " : "–"}${this.priceText(Math.max(Number(high.toFixed(0)), Math.ceil(written)), 0)}`;
  }

  /** Writes the time by the reader's clock. If the hour is repeated at the end of summer time, adds the time zone. @param {number} ts */
  timeOfDay(ts) {
    const time = this.wallTime(ts).slice(11);
    return this.isRepeated(ts) ? `${time} ${this.utcOffset(ts) > this.utcOffset(ts + HOUR_S) ? "EEST" : "EET"}` : time;
  }

  /** Writes the day of an instant, as `Texts.short_date` in texts.py does. @param {number} ts */
  dayText(ts) {
    return this.dayNames(ts)[0];
  }

  /** Writes the day of an instant as "today", "tomorrow" or a date. @param {number} ts @param {number} now */
  relativeDay(ts, now) {
    const day = this.wallTime(ts).slice(0, 10);
    if (day === this.wallTime(now).slice(0, 10)) return this.say("days.today");
    const before = new Date(Date.parse(day) - DAY_S * 1000).toISOString().slice(0, 10);
    return before === this.wallTime(now).slice(0, 10) ? this.say("days.tomorrow") : this.dayText(ts);
  }

  /** @override @param {number} ts */
  hourText(ts) {
    return this.wallTime(ts).slice(11);
  }

  /** @override @param {number} ts */
  dayNames(ts) {
    const date = this.wallTime(ts).slice(0, 10);
    const weekday = this.dates.weekdays[(new Date(date).getUTCDay() + 6) % 7];
    const gaps = { weekday, day: String(Number(date.slice(8))), month: this.dates.months[Number(date.slice(5, 7)) - 1] };
    return [this.say("shortDate", gaps), this.say("shorterDate", gaps), weekday];
  }

  /** @param {import("./chart.js").Span} span */
  timesText({ from, to }) {
    return `${this.timeOfDay(from)}–${this.timeOfDay(to)}`;
  }

  /** Writes the start and the end of a span. If the end is on another day, adds that day. Midnight at the end belongs to the day before. @param {import("./chart.js").Span} span @param {number} now */
  timesOverDays(span, now) {
    const [first, last] = [span.from, span.to - 1].map((ts) => this.dayInSentence(ts, now));
    return first === last ? this.timesText(span) : `${this.timeOfDay(span.from)} – ${last} ${this.timeOfDay(span.to)}`;
  }

  /** Writes the day of an instant for use within a sentence: "today" and "tomorrow" begin with a small letter. @param {number} ts @param {number} now */
  dayInSentence(ts, now) {
    const name = this.relativeDay(ts, now);
    return name === this.dayText(ts) ? name : name.toLowerCase();
  }

  /** Returns whether the shown price at an instant contains the network's night rate. @param {number} ts */
  isNightRate(ts) {
    return surchargeStepAt(this.surcharge, ts)?.[2] ?? false;
  }

  /**
   * Writes a period's time and price. `what` lists the kind of the price and, if there is a forecast, a text about the
   * forecast. If neither a price nor a forecast is known, `price` is empty.
   * @param {import("./periods.js").Period | undefined} period @param {import("./chart.js").Span} span
   */
  periodTexts(period, span) {
    const when = `${this.dayText(span.from)} ${this.timesText(span)}`;
    if (!period || (period.settled === null && !period.forecast)) return { when, price: "", what: [this.say("unknown")] };
    if (period.settled === null && period.forecast) {
      const what = [this.say("forecast"), this.say("likely", { band: this.intervalText(period.forecast) })];
      const price = this.say("about", { price: `${this.forecastText(period.forecast[1])} ${this.unitSymbol}` });
      return { when, price, what };
    }
    const price = `${this.priceText(/** @type {number} */ (period.settled))} ${this.unitSymbol}`;
    if (!period.forecast) return { when, price, what: [this.say("settled")] };
    const then = this.say("forecastThen", { price: this.forecastText(period.forecast[1]), band: this.intervalText(period.forecast) });
    return { when, price, what: [this.say("settled"), then] };
  }
}
