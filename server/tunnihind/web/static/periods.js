// The hours or quarter-hours of an answer of the API, their days, and how expensive each is within its day.

export const MINUTE_S = 60;
export const QUARTER_S = 900;
export const HOUR_S = 3600;
export const DAY_S = 24 * HOUR_S;

/**
 * @typedef {{ts: number, eurMwh: number}} Settled
 * @typedef {{ts: number, p10: number, p50: number, p90: number}} Forecast
 * @typedef {{now: number, step: number, settled: Settled[], forecast: Forecast[]}} Prices
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

/** The least distance between two days' names, in CSS pixels. */
const GAP_PX = 8;

/** @typedef {{start: number, end: number, number: number}} Day  `number` counts the calendar's days */

/** @type {WeakMap<object, Day[]>} what has been worked out for a set of periods */
const knownDays = new WeakMap();

/**
 * Returns the days of the periods that the chart has; calendars are slow, and this is asked for with every move.
 * @param {import("./scene.js").Scene} scene
 */
export function daysOf({ periods, wording }) {
  const days = knownDays.get(periods) ?? findDays(periods, wording);
  knownDays.set(periods, days);
  return days;
}

/** @param {Map<number, Period>} periods @param {import("./wording.js").Wording} wording */
function findDays(periods, wording) {
  /** @type {Day[]} */
  const days = [];
  for (const ts of hoursOf(periods)) {
    const number = Date.parse(wording.wall(ts).slice(0, 10)) / (DAY_S * 1000);
    const last = days[days.length - 1];
    if (last?.number === number) last.end = ts + HOUR_S;
    else days.push({ start: ts, end: ts + HOUR_S, number });
  }
  return days;
}

/**
 * Returns the names of the days in view and where their middles stand. A name never leaves the part of its day that is
 * in view. Where days are too narrow even for the shortest way to write them, every so many are named, the same ones
 * wherever the view begins, so that names don't flicker while it is moved; such a name stands at the start of its day.
 * @param {Day[]} days
 * @param {{min: number, max: number}} view
 * @param {number} pxPerSecond
 * @param {(ts: number) => string[]} written the ways to write a day, the longest first
 * @param {(text: string) => number} widthOf how wide a text is drawn, in CSS pixels
 * @returns {{every: number, names: {at: number, text: string}[]}} `every` is how many days there are to a name
 */
export function dayNames(days, view, pxPerSecond, written, widthOf) {
  const inView = days
    .map((day) => ({ ...day, from: Math.max(day.start, view.min), to: Math.min(day.end, view.max) }))
    .filter(({ from, to }) => from < to)
    .map((day) => ({ ...day, texts: written(day.start) }));
  if (!inView.length) return { every: 1, names: [] };
  const room = (/** @type {string} */ text) => (widthOf(text) + GAP_PX) / pxPerSecond;
  const widest = inView[0].texts.map((_, way) => Math.max(...inView.map(({ texts }) => room(texts[way]))));
  const way = widest.findIndex((seconds) => seconds <= DAY_S);
  const every = way < 0 ? Math.ceil(widest[0] / DAY_S) : 1;
  const names = inView.flatMap(({ number, start, from, to, texts }) => {
    if (every === 1) {
      const text = texts.slice(way).find((candidate) => room(candidate) <= to - from);
      return text ? [{ at: (from + to) / 2, text }] : [];
    }
    const half = room(texts[0]) / 2;
    const fits = number % every === 0 && start - half >= view.min && start + half <= view.max;
    return fits ? [{ at: start, text: texts[0] }] : [];
  });
  return { every, names };
}

/** From the cheapest to the dearest fifth. */
export const LEVELS = ["very_low", "low", "normal", "high", "very_high"];

/** @type {WeakMap<object, Map<number, string>>} what has been worked out for a set of periods */
const knownLevels = new WeakMap();

/**
 * Tells the level of each period with a price. Equal prices share the middle of their places, so a day of one price is
 * normal throughout.
 * @param {import("./scene.js").Scene} scene
 * @returns {Map<number, string>}
 */
export function levelsOf(scene) {
  const levels = knownLevels.get(scene.periods) ?? new Map(daysOf(scene).flatMap((day) => levelsOfDay(scene.periods, day)));
  knownLevels.set(scene.periods, levels);
  return levels;
}

/**
 * @param {Map<number, Period>} periods @param {Day} day
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
