// The days under the chart: where each begins and ends, and how it is written in the room that it has.

import { DAY_S, HOUR_S, hoursOf } from "./periods.js";

/** The least distance between two days' names, in CSS pixels. */
const GAP_PX = 8;

/** @typedef {{start: number, end: number, number: number}} Day  `number` counts the calendar's days */

/** @type {WeakMap<object, Day[]>} what has been worked out for a set of periods */
const known = new WeakMap();

/**
 * Returns the days of the periods that the chart has; calendars are slow, and this is asked for with every move.
 * @param {import("./backdrop.js").Scene} scene
 */
export function daysOf({ periods, wording }) {
  const days = known.get(periods) ?? findDays(periods, wording);
  known.set(periods, days);
  return days;
}

/** @param {Map<number, import("./periods.js").Period>} periods @param {import("./wording.js").Wording} wording */
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
