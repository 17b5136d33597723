// Until when something has to be done: what the reader can choose, and the instant that a choice means.

import { DAY_S, QUARTER_S } from "./periods.js";

const MORNING = "07:00";

/** What is looked for unless the reader chooses: the next 24 hours. */
export const USUAL = "24h";

/**
 * @typedef {{
 *   next: number, duration: number, ends: number[], wall: (ts: number) => string,
 * }} Ahead  `next` is the earliest start, `duration` in seconds how long it takes, `ends` (ascending) when the periods
 *   end whose price is known, `wall` the reader's clock as `2026-11-20T14:00`
 */

/**
 * The instant that a choice means: `24h` from the earliest start, `morning`, `none`, an instant in unix seconds, or the
 * reader's clock as addresses held it before; anything else is the usual choice. It is null for a time that has passed.
 * No deadline lies after the last price.
 * @param {string} choice @param {Ahead} ahead
 * @returns {number | null}
 */
export function deadlineOf(choice, ahead) {
  const { next, ends } = ahead;
  const wanted = meaning(choice, ahead);
  if (wanted === undefined || wanted <= next) return null;
  return Math.min(wanted, ends[ends.length - 1] ?? next);
}

/** @param {string} choice @param {Ahead} ahead */
function meaning(choice, { next, duration, ends, wall }) {
  if (choice === "none") return Infinity;
  if (choice === "morning") return nextMorning(next + duration, wall);
  if (/^\d+$/.test(choice)) return Number(choice);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(choice)) return ends.findLast((end) => wall(end) <= choice);
  return next + DAY_S;
}

/**
 * The first seven o'clock in the morning from an instant on; seven is on the full hour in every zone that we show.
 * @param {number} from @param {(ts: number) => string} wall
 */
export function nextMorning(from, wall) {
  let ts = Math.ceil(from / QUARTER_S) * QUARTER_S;
  while (!wall(ts).endsWith(MORNING)) ts += QUARTER_S;
  return ts;
}

/** @typedef {{day: string, ts: number, ends: {ts: number, clock: string}[]}} Day  `ts` is an instant in that day */

/**
 * Sorts the ends of periods by the day of the reader's calendar that the period is in. Midnight ends a day as 24:00.
 * @param {number[]} ends ascending @param {number} step how long a period is
 * @param {{wall: (ts: number) => string, clock: (ts: number) => string}} wording
 * @returns {Day[]}
 */
export function endsByDay(ends, step, wording) {
  /** @type {Day[]} */
  const days = [];
  for (const end of ends) {
    const day = wording.wall(end - step).slice(0, 10);
    if (days.at(-1)?.day !== day) days.push({ day, ts: end - step, ends: [] });
    const isMidnight = wording.wall(end).slice(0, 10) !== day;
    days[days.length - 1].ends.push({ ts: end, clock: isMidnight ? "24:00" : wording.clock(end) });
  }
  return days;
}

/** The end in a day by another day's clock: the same time, or else the next later or the last that the day has. @param {Day} day @param {string} clock */
export function sameTime(day, clock) {
  return (day.ends.find((end) => end.clock >= clock) ?? day.ends[day.ends.length - 1]).ts;
}
