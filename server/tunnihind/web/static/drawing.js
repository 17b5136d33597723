// Draws the page's chart with chart.js, which Home Assistant's card also uses. For readers without scripts, drawing.py
// draws a similar chart on the server.

import { DAYS_PX, Drawing, HOURS_PX, middleWithin, roundStep, TINTS } from "./chart.js";

/**
 * Free space at the top of the price axis, as a fraction of the axis without free space. With negative prices, the
 * bottom has as much.
 */
const FREE_SPACE_SHARE = 0.05;
const TICKS = 6;
const GAP_PX = 8;
const USUAL_FONT_PX = 16;
/** The most expensive times are hatched, so that they differ from the cheapest times not only by colour. */
const HATCHING = `<pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatching" d="M3 0V6"/></pattern>`;

/** @typedef {import("./chart.js").Period} Period @typedef {import("./chart.js").Span} Span */
/**
 * @typedef {import("./chart.js").Scene & {forecasts: Period[], nights: Span[], found: Span[], mostExpensive: Span[], wording: import("./wording.js").Wording}} DrawnScene
 *   `found` and `mostExpensive` are the finder's results
 */

/**
 * The ends of the price axis, with some free space, and the step between its labels. For the same prices, the server's
 * chart has the same axis.
 * @param {number} least the lowest visible price, or zero if that is lower
 * @param {number} most the highest visible price, or zero if that is higher
 */
export function priceAxis(least, most) {
  const reach = most - least || 1;
  const margin = reach * FREE_SPACE_SHARE;
  return { least: least < 0 ? least - margin : 0, most: (most || (least < 0 ? 0 : 1)) + margin, step: roundStep(reach, TICKS) };
}

/**
 * Draws published prices as steps, and the forecast as a line in its band. Nights and the finder's results are behind
 * the prices.
 */
export class PageDrawing extends Drawing {
  /** @param {HTMLElement} place @param {HTMLElement} over an element over the plot, placed by the style sheet */
  constructor(place, over) {
    super(place, { behind: ["nights", "window", "avoid"], before: TINTS.map((tint) => `edge ${tint}`), more: HATCHING });
    this.overlay = place.appendChild(over);
    this.wording = /** @type {import("./wording.js").Wording} */ (/** @type {unknown} */ (null));
    this.measure();
  }

  /** @override */
  measure() {
    this.scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_FONT_PX;
    super.measure();
  }

  /** @override @param {number} amount @param {number} decimals */
  number(amount, decimals) {
    return this.wording.priceText(amount, decimals);
  }

  /** @override @param {number} least @param {number} most */
  axis(least, most) {
    return priceAxis(least, most);
  }

  /** @param {DrawnScene} scene */
  draw(scene) {
    const { offsetLeft: left, offsetTop: top, offsetWidth, offsetHeight } = this.overlay;
    if (!offsetWidth || !offsetHeight) return;
    this.wording = scene.wording;
    const bottom = top + offsetHeight;
    const hasHours = this.size.height - bottom >= (HOURS_PX + DAYS_PX) * this.scale;
    this.drawPrices(scene, { left, right: left + offsetWidth, top, bottom, below: bottom, hasAxis: true, hasHours });
    for (const [name, spans] of /** @type {[string, Span[]][]} */ (Object.entries({ nights: scene.nights, window: scene.found, avoid: scene.mostExpensive }))) {
      this.setPath(name, spans.map(({ from, to }) => this.fullHeightPath(from, to)).join(""));
    }
    this.labelUnitAndNow(scene);
  }

  /** Also draws a line along the prices. Vertical lines join the prices of consecutive periods. @override @param {Period[]} published @param {number} now */
  drawPublished(published, now) {
    super.drawPublished(published, now);
    const edges = TINTS.map(() => "");
    published.forEach(({ start, end, price, tint }, i) => {
      const before = published[i - 1];
      const joint = before?.end === start ? `${this.y(before.price)}V` : "";
      edges[tint ?? TINTS.length - 1] += `M${this.x(start)} ${joint}${this.y(price)}H${this.x(end)}`;
    });
    edges.forEach((d, tint) => this.setPath(`edge ${TINTS[tint]}`, d));
  }

  /** Draws the median and the band from the middle of each period to the middle of the next, except across gaps. @override @param {Period[]} forecast */
  drawForecast(forecast) {
    /** @type {Period[][]} */
    const runs = [];
    for (const period of forecast) {
      const run = runs.at(-1);
      if (run?.at(-1)?.end === period.start) run.push(period);
      else runs.push([period]);
    }
    const line = (/** @type {Period[]} */ run, /** @type {"low" | "price" | "high"} */ of) =>
      run.map((period) => `${this.x((period.start + period.end) / 2)} ${this.y(period[of] ?? 0)}`).join("L");
    this.setPath("median", runs.map((run) => `M${line(run, "price")}`).join(""));
    this.setPath("likely", runs.map((run) => `M${line(run, "high")}L${line([...run].reverse(), "low")}Z`).join(""));
  }

  /** Writes the unit above the price axis, and labels the present if it is in view. Labels without room are left out. @param {DrawnScene} scene */
  labelUnitAndNow({ now, view, wording }) {
    const { left, right } = this.plot;
    const label = (/** @type {string} */ text, /** @type {string} */ kind, /** @type {number} */ middle, /** @type {number} */ least) => {
      const width = this.widthOf(text);
      return { text, kind, width, at: middleWithin(middle, width, least, right) };
    };
    const unit = label(wording.unitSymbol, "unit", 0, 2);
    const isNow = now >= view.from && now < view.to;
    this.drawLabelsAbove([unit, ...(isNow ? [label(wording.say("chart.legend.now"), "now-name", this.x(now), Math.max(left, unit.width + GAP_PX))] : [])]);
  }
}
