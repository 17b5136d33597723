// The words around the chart: the tip at the chosen period, the legend, and the weather below the chart.

import { inView, isPublished } from "./chart.js";
import { floorTo, HOUR_S, levelsOf } from "./periods.js";

/** @typedef {{width: number, height: number}} Size */
/** @typedef {{from: number, to: number, y: number, isFinger: boolean}} Spot  the places of the pointer and of its period's column */

/** The tip's distance from the pointer. A finger hides more than an arrow. */
const [GAP_PX, FINGER_PX] = [12, 36];

/**
 * Places a tip beside the column of the pointer's period. If neither side has room, places the tip above or below the
 * pointer. If the plot has room for the tip, the tip stays inside it.
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
  /** @param {import("./moves.js").PageChart} chart @param {HTMLElement} card the section of the chart */
  constructor(chart, card) {
    this.chart = chart;
    this.card = card;
    this.tip = /** @type {HTMLElement} */ (card.querySelector("[data-readout]"));
    // The small view's plot has no room for a tip. So the tip covers the present price, and only one price is visible.
    this.floats = !card.closest(".embed");
    if (this.floats) chart.drawing.over.append(this.tip);
  }

  /** Shows the price of the pointer's period. Without such a period, screen readers get the present price. */
  say() {
    const { place, data: scene, pointed } = this.chart;
    const ts = pointed ?? floorTo(scene.now(), scene.step);
    const said = this.lines(ts);
    this.card.classList.toggle("is-pointed", pointed !== null);
    this.tip.replaceChildren(...said.map(({ text, name }) => line(text, name)));
    this.tip.hidden = pointed === null;
    this.float();
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
    // Two prices for one hour confuse readers who didn't ask for past forecasts.
    const period = known && known.settled !== null && !showsPast ? { ...known, forecast: null } : known;
    const { when, price, what } = wording.period(period, { from: ts, to: ts + scene.step });
    const level = period?.settled == null ? undefined : levelsOf(scene).get(ts);
    const lines = [
      { name: "when", text: when },
      { name: "amount", text: price },
      ...what.map((text) => ({ name: "what", text })),
      { name: `level ${wording.tint(period?.settled ?? 0)}`, text: level ? wording.say("ofDay", { level: wording.say(`level.${level}`) }) : "" },
      { name: "night", text: known && wording.isNightRate(ts) ? wording.say("night") : "" },
    ];
    return lines.filter(({ text }) => text);
  }

  /** Places the tip beside the visible part of the period pointed at. */
  float() {
    const { data, drawing, pointed, spot, view } = this.chart;
    if (!this.floats || pointed === null) return;
    const end = pointed + data.step;
    this.tip.hidden = pointed >= view.to || end <= view.from;
    const { clientWidth: width, clientHeight: height } = drawing.over;
    const x = (/** @type {number} */ ts) => Math.min(Math.max(((ts - view.from) / (view.to - view.from)) * width, 0), width);
    const size = { width: this.tip.offsetWidth, height: this.tip.offsetHeight };
    const column = { from: x(pointed), to: x(end) };
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

/**
 * Shows a legend item only while the thing it explains is in view.
 * @param {HTMLElement} card the section of the chart @param {import("./drawing.js").DrawnScene} scene
 */
export function explain(card, { periods, forecasts, view, nights, found, dearest }) {
  const published = inView(periods, view).filter(isPublished);
  const isInView = (/** @type {import("./chart.js").Span} */ { from, to }) => to > view.from && from < view.to;
  /** @type {Record<string, boolean>} */
  const isSeen = {
    settled: published.length > 0,
    forecast: inView(forecasts, view).length > 0,
    negative: published.some(({ price }) => price < 0),
    found: found.some(isInView),
    dearest: dearest.some(isInView),
    night: nights.some(isInView),
  };
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-shows]"))) {
    item.hidden = !isSeen[item.dataset.shows ?? ""];
  }
}

/** The key of the text for each band. @type {Record<string, string>} */
const OF_HOUR = { wind: "windOfHour", sun: "sunOfHour" };

/**
 * The part of the drawing for a range of time. One unit of x is an hour. Both bands are 100 high. Above each band is a
 * space of 100 for its words.
 * @param {number} start the drawing's first instant @param {import("./chart.js").Span} view
 */
export function viewBox(start, { from, to }) {
  return `${(from - start) / HOUR_S} 0 ${(to - from) / HOUR_S} 400`;
}

/** Returns the strip and the server's drawing in it. Without weather, returns null. */
function drawn() {
  const strip = document.getElementById("weather");
  const svg = strip?.querySelector("svg");
  return strip && svg ? { strip, svg, start: Number(svg.dataset.start) } : null;
}

/** @param {import("./chart.js").Span} view */
export function showWeather(view) {
  const found = drawn();
  found?.svg.setAttribute("viewBox", viewBox(found.start, view));
}

/**
 * Writes the wind and the sun of an hour, or the scale of the bands.
 * @param {number | null} ts @param {import("./wording.js").Wording} wording
 */
export function sayWeather(ts, wording) {
  const found = drawn();
  if (!found) return;
  for (const place of found.strip.querySelectorAll("[data-said]")) {
    const { said = "", scale = "" } = /** @type {HTMLElement} */ (place).dataset;
    const values = found.svg.dataset[said]?.split(",") ?? [];
    const value = ts === null ? "" : values[(floorTo(ts, HOUR_S) - found.start) / HOUR_S];
    place.textContent = value ? wording.say(OF_HOUR[said], { value }) : scale;
  }
}
