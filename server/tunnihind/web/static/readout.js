// What is pointed at in the chart: told beside the pointer or above the finger, and to screen readers.

import { levelsOf } from "./levels.js";
import { floorTo } from "./periods.js";

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{from: number, to: number, y: number, isFinger: boolean}} Spot  where a pointed period's column and the pointer are */

/** How far the tip keeps from what it tells of; a finger hides more than an arrow. */
const [GAP_PX, FINGER_PX] = [12, 36];

/**
 * Places a tip in the plot: beside the column that is pointed at, and where neither side has room above the pointer or
 * below it. It never leaves a plot that has room for it.
 * @param {Size} tip @param {Size} plot @param {Spot} spot
 */
export function placed(tip, plot, { from, to, y, isFinger }) {
  const gap = isFinger ? FINGER_PX : GAP_PX;
  const within = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(0, Math.min(at, most));
  const [mostLeft, mostTop] = [plot.width - tip.width, plot.height - tip.height];
  const beside = [to + gap, from - gap - tip.width].find((left) => left >= 0 && left <= mostLeft);
  if (beside !== undefined) return { left: beside, top: within(y - tip.height / 2, mostTop) };
  const above = y - gap - tip.height;
  return { left: within((from + to - tip.width) / 2, mostLeft), top: above >= 0 ? above : within(y + gap, mostTop) };
}

export class Readout {
  /** @param {import("./chart.js").Chart} chart @param {HTMLElement} card the section of the chart */
  constructor(chart, card) {
    this.chart = chart;
    this.card = card;
    this.tip = /** @type {HTMLElement} */ (card.querySelector("[data-readout]"));
    // The small view has no room in its plot: there the tip covers the present price, with one price to be seen.
    this.floats = !card.closest(".embed");
    if (this.floats) chart.plot.over.append(this.tip);
  }

  /** Says the price of the period that is pointed at, or of the present one to screen readers. */
  say() {
    const { place, scene } = this.chart;
    const ts = scene.pointed ?? floorTo(scene.now(), scene.step);
    const said = this.lines(ts);
    this.card.classList.toggle("is-pointed", scene.pointed !== null);
    this.tip.replaceChildren(...said.map(({ text, name }) => line(text, name)));
    this.tip.hidden = scene.pointed === null;
    this.float();
    const all = [...scene.periods.keys()];
    place.setAttribute("aria-label", `${place.dataset.chart}, ${scene.wording.unitNamed}`);
    place.setAttribute("aria-valuemin", String(all[0]));
    place.setAttribute("aria-valuemax", String(all[all.length - 1]));
    place.setAttribute("aria-valuenow", String(ts));
    const [{ text: when }, ...rest] = said;
    place.setAttribute("aria-valuetext", `${when}: ${rest.map(({ text }) => text).join(", ")}`);
  }

  /** What there is to say of a period, line by line. @param {number} ts */
  lines(ts) {
    const { scene, showsPast } = this.chart;
    const { wording } = scene;
    const known = scene.periods.get(ts);
    // Two prices for one hour confuse whoever didn't ask for past forecasts.
    const period = known && known.settled !== null && !showsPast ? { ...known, forecast: null } : known;
    const { when, price, what } = wording.period(period, { from: ts, to: ts + scene.step });
    const level = period?.settled == null ? undefined : levelsOf(scene).get(ts);
    const lines = [
      { name: "when", text: when },
      { name: "amount", text: price },
      ...what.map((text) => ({ name: "what", text })),
      { name: `level ${level}`, text: level ? wording.say(`level.${level}`) : "" },
      { name: "night", text: known && wording.isNightRate(ts) ? wording.say("night") : "" },
      { name: "limit", text: ts + scene.step >= scene.limit ? wording.say("limit") : "" },
    ];
    return lines.filter(({ text }) => text);
  }

  /** Places the tip beside what is pointed at, as far as that is in view. */
  float() {
    const { plot, scene, spot, range } = this.chart;
    if (!this.floats || scene.pointed === null) return;
    this.tip.hidden = scene.pointed >= range.max || scene.pointed + scene.step <= range.min;
    const { clientWidth: width, clientHeight: height } = plot.over;
    const x = (/** @type {number} */ ts) => Math.min(Math.max(plot.valToPos(ts, "x"), 0), width);
    const size = { width: this.tip.offsetWidth, height: this.tip.offsetHeight };
    const column = { from: x(scene.pointed), to: x(scene.pointed + scene.step) };
    const { left, top } = placed(size, { width, height }, { ...column, y: 0, isFinger: false, ...spot });
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }
}

/** @param {string} text @param {string} name */
function line(text, name) {
  const element = document.createElement(name === "amount" ? "b" : "span");
  element.className = name;
  element.textContent = `${text} `;
  return element;
}
