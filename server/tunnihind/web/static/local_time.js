// The clocks of Estonia, Latvia, Lithuania and Finland, which all show the same time. Computing their offset from UTC is
// faster than asking `Intl` for each of the 44,000 hours of five years.

export const HOUR_S = 3600;
export const DAY_S = 86_400;

/** The year of the last asked instant, with its summer time. Instants mostly come in order of time. */
let known = { from: 0, to: 0, summer: [0, 0] };

/** The last Sunday of a month, 01:00 UTC. @param {number} year @param {number} month from 0 */
function lastSunday(year, month) {
  const last = new Date(Date.UTC(year, month + 1, 0));
  return last.getTime() / 1000 - last.getUTCDay() * DAY_S + HOUR_S;
}

/** The seconds by which local clocks are ahead of UTC. @param {number} ts */
export function utcOffset(ts) {
  if (ts < known.from || ts >= known.to) {
    const year = new Date(ts * 1000).getUTCFullYear();
    known = { from: Date.UTC(year, 0) / 1000, to: Date.UTC(year + 1, 0) / 1000, summer: [lastSunday(year, 2), lastSunday(year, 9)] };
  }
  return (ts >= known.summer[0] && ts < known.summer[1] ? 3 : 2) * HOUR_S;
}

/** The instants at which local clocks show a time: two in the repeated hour, none in the skipped hour. @param {number} wall the time in seconds as if it were UTC */
export function instantsOf(wall) {
  return [3 * HOUR_S, 2 * HOUR_S].filter((offset) => utcOffset(wall - offset) === offset).map((offset) => wall - offset);
}

/** A local time such as `2025-03-01 14:00`. @param {number} ts */
export function localText(ts) {
  return new Date((ts + utcOffset(ts)) * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** The local month, such as `2025-03`. @param {number} ts */
export const monthOf = (ts) => localText(ts).slice(0, 7);

/** The first instant of a month such as `2025-03`, or of a later one. @param {string} month @param {number} later in months */
export function monthStart(month, later = 0) {
  const [year, number] = month.split("-").map(Number);
  return instantsOf(Date.UTC(year, number - 1 + later) / 1000)[0];
}

/** The months from one to another, both included. @param {string} first @param {string} last */
export function monthsBetween(first, last) {
  const months = [];
  for (let month = first; month <= last; month = monthOf(monthStart(month, 1))) months.push(month);
  return months;
}
