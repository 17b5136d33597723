// The words around the chart: the tip at the period pointed at, the legend, and the weather below the chart.

import { isPublished, periodsInView } from "./chart.js";
import { floorTo, HOUR_S, levelsOf } from "./periods.js";

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{from: number, to: number, y: number, isFinger: boolean}} TipTarget  the x coordinates `from` and `to` of the sides of a period's column, and the pointer's distance `y` from the plot's top */

/** The tip's distance from the column or the pointer, for a mouse and for a finger, which hides more. */
const [GAP_PX, FINGER_PX] = [12, 36];

/**
 * Returns the place of a tip beside the column. If neither side has room, returns a place above or below the pointer.
 * If the pointer is on the plot, a tip that is smaller than the plot stays inside the plot.
 * @param {Size} tip @param {Size} plot @param {TipTarget} target
 */
export function tipPlace(tip, plot, { from, to, y, isFinger }) {
  const gap = isFinger ? FINGER_PX : GAP_PX;
  const within = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(0, Math.min(at, most));
  const [mostLeft, mostTop] = [plot.width - tip.width, plot.height - tip.height];
  const beside = [to + gap, from - gap - tip.width].find((left) => left >= 0 && left <= mostLeft);
  if (beside !== undefined) return { left: beside, top: within(y - tip.height / 2, mostTop) };
  const above = y - gap - tip.height;
  return { left: within((from + to - tip.width) / 2, mostLeft), top: above >= 0 ? above : within(y + gap, mostTop) };
}

export class Readout {
  /** @param {import("./moves.js").PageChart} chart @param {HTMLElement} card the section of the chart */
  constructor(chart, card) {
    this.chart = chart;
    this.card = card;
    this.tip = /** @type {HTMLElement} */ (card.querySelector("[data-readout]"));
    // The small view's plot has no room for a tip, so the style sheet puts the tip over the present price.
    this.hasFloatingTip = !card.closest(".embed");
    if (this.hasFloatingTip) chart.drawing.overlay.append(this.tip);
  }

  /**
   * Shows the words about the period pointed at, in the tip and to screen readers. If no period is pointed at, screen
   * readers get the words about the present period.
   */
  update() {
    const { place, data: scene, pointed } = this.chart;
    const ts = pointed ?? floorTo(scene.now(), scene.step);
    const said = this.lines(ts);
    this.card.classList.toggle("is-pointed", pointed !== null);
    this.tip.replaceChildren(...said.map(({ text, name }) => lineElement(text, name)));
    this.tip.hidden = pointed === null;
    this.placeTip();
    const all = [...scene.periods.keys()];
    place.setAttribute("aria-label", `${place.dataset.chart}, ${scene.wording.unitNamed}`);
    place.setAttribute("aria-valuemin", String(all[0]));
    place.setAttribute("aria-valuemax", String(all[all.length - 1]));
    place.setAttribute("aria-valuenow", String(ts));
    const [{ text: when }, ...rest] = said;
    place.setAttribute("aria-valuetext", `${when}: ${rest.map(({ text }) => text).join(", ")}`);
  }

  /** The words about a period, line by line. @param {number} ts */
  lines(ts) {
    const { data: scene, showsPast } = this.chart;
    const { wording } = scene;
    const known = scene.periods.get(ts);
    // Two prices for one period would confuse readers who didn't ask for past forecasts.
    const period = known && known.settled !== null && !showsPast ? { ...known, forecast: null } : known;
    const { when, price, what } = wording.periodTexts(period, { from: ts, to: ts + scene.step });
    const level = period?.settled == null ? undefined : levelsOf(scene).get(ts);
    const lines = [
      { name: "when", text: when },
      { name: "amount", text: price },
      ...what.map((text) => ({ name: "what", text })),
      { name: `word ${wording.tintClass(period?.settled ?? 0)}`, text: period?.settled == null ? "" : wording.priceWord(period.settled) },
      { name: "rank", text: level ? wording.say("ofDay", { level: wording.say(`level.${level}`) }) : "" },
      { name: "night", text: known && wording.isNightRate(ts) ? wording.say("night") : "" },
    ];
    return lines.filter(({ text }) => text);
  }

  /** Places the floating tip at the visible part of the period pointed at. If no part is visible, hides the tip. */
  placeTip() {
    const { data, drawing, pointed, pointer, view } = this.chart;
    if (!this.hasFloatingTip || pointed === null) return;
    const end = pointed + data.step;
    this.tip.hidden = pointed >= view.to || end <= view.from;
    const { clientWidth: width, clientHeight: height } = drawing.overlay;
    const x = (/** @type {number} */ ts) => Math.min(Math.max(((ts - view.from) / (view.to - view.from)) * width, 0), width);
    const size = { width: this.tip.offsetWidth, height: this.tip.offsetHeight };
    const column = { from: x(pointed), to: x(end) };
    const { left, top } = tipPlace(size, { width, height }, { ...column, y: 0, isFinger: false, ...pointer });
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }
}

/** @param {string} text @param {string} name */
function lineElement(text, name) {
  const element = document.createElement(name === "amount" ? "b" : "span");
  element.className = name;
  element.textContent = `${text} `;
  return element;
}

/**
 * Shows the legend items for what is in view, and hides the others.
 * @param {HTMLElement} card the section of the chart @param {import("./drawing.js").DrawnScene} scene
 */
export function showLegend(card, { periods, forecasts, view, nights, found, mostExpensive }) {
  const published = periodsInView(periods, view).filter(isPublished);
  const isInView = (/** @type {import("./chart.js").Span} */ { from, to }) => to > view.from && from < view.to;
  /** @type {Record<string, boolean>} */
  const isSeen = {
    settled: published.length > 0,
    forecast: periodsInView(forecasts, view).length > 0,
    negative: published.some(({ price }) => price < 0),
    found: found.some(isInView),
    dearest: mostExpensive.some(isInView),
    night: nights.some(isInView),
  };
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-shows]"))) {
    item.hidden = !isSeen[item.dataset.shows ?? ""];
  }
}

/** @type {Record<string, string>} */
const HOUR_TEXT_KEYS = { wind: "windOfHour", sun: "sunOfHour" };

/**
 * Returns the SVG `viewBox` that shows a span of the weather. One unit of x is an hour. Each band is 100 units high,
 * with a space of 100 units above it for its words.
 * @param {number} start the drawing's first instant @param {import("./chart.js").Span} view
 */
export function viewBox(start, { from, to }) {
  return `${(from - start) / HOUR_S} 0 ${(to - from) / HOUR_S} 400`;
}

/** Returns the weather strip, its drawing, and the drawing's first instant. If the page has no weather, returns null. */
function weatherStrip() {
  const strip = document.getElementById("weather");
  const svg = strip?.querySelector("svg");
  return strip && svg ? { strip, svg, start: Number(svg.dataset.start) } : null;
}

/** @param {import("./chart.js").Span} view */
export function showWeather(view) {
  const found = weatherStrip();
  found?.svg.setAttribute("viewBox", viewBox(found.start, view));
}

/**
 * Writes the wind and the sun in the hour that contains `ts`. If `ts` is null or a value is unknown, writes the scale
 * of the value's band instead.
 * @param {number | null} ts @param {import("./wording.js").Wording} wording
 */
export function writeWeather(ts, wording) {
  const found = weatherStrip();
  if (!found) return;
  for (const place of found.strip.querySelectorAll("[data-said]")) {
    const { said = "", scale = "" } = /** @type {HTMLElement} */ (place).dataset;
    const values = found.svg.dataset[said]?.split(",") ?? [];
    const value = ts === null ? "" : values[(floorTo(ts, HOUR_S) - found.start) / HOUR_S];
    place.textContent = value ? wording.say(HOUR_TEXT_KEYS[said], { value }) : scale;
  }
}
