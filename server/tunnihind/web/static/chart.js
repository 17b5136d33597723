// The chart: settled prices as steps, the forecast's median as a line in its band. uPlot draws it.

import { colour, drawBefore, drawBehind } from "./backdrop.js";
import { dayNames, daysOf } from "./days.js";

/** Below this height of all of the chart, as in the style sheet, there are no times under it: the plot needs the room. */
const LOW_PX = 160;
const MOST_DATES = 1000;
const [TIMES_PX, DAYS_PX] = [18, 18];

/** @returns {any} The chart library, or undefined where this server was built without it. */
export function chartLibrary() {
  return /** @type {any} */ (globalThis).uPlot;
}

/**
 * Lays periods out for uPlot. Settled prices stand at the start of their period and last to its end, forecasts in its
 * middle. A gap of uPlot's is null; undefined only says that a series has no point there.
 * @param {Map<number, import("./periods.js").Period>} periods
 * @param {number} step how long a period is
 * @param {boolean} showsPast whether periods whose price is known show what had been forecast for them, too
 */
export function columns(periods, step, showsPast) {
  /** @type {number[]} */
  const instants = [];
  /** @type {(number | null | undefined)[][]} */
  const [settled, p10, p50, p90] = [[], [], [], []];
  const end = { ts: Math.max(...periods.keys()) + step, settled: null, forecast: null };
  let previous = null;
  for (const period of [...periods.values(), end]) {
    const shown = showsPast || period.settled === null ? period.forecast : null;
    instants.push(period.ts, period.ts + step / 2);
    settled.push(period.settled ?? previous, period.settled === null ? null : undefined);
    p10.push(undefined, shown?.[0] ?? null);
    p50.push(undefined, shown?.[1] ?? null);
    p90.push(undefined, shown?.[2] ?? null);
    previous = period.settled;
  }
  return [instants, p10, p50, p90, settled];
}

export class Chart {
  /**
   * @param {HTMLElement} place
   * @param {import("./backdrop.js").Scene} scene
   * @param {{pointed: (ts: number | null) => void, moved: (range: {min: number, max: number}) => void}} listener
   *   `moved` is called when the plot shows another range, or other data
   */
  constructor(place, scene, listener) {
    this.place = place;
    this.scene = scene;
    this.listener = listener;
    this.showsPast = false;
    /** @type {Map<string, Date>} */
    this.dates = new Map();
    /** @type {{min: number, max: number}} */
    this.range = { min: 0, max: 1 };
    this.plot = this.make();
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(place);
  }

  columns() {
    return columns(this.scene.periods, this.scene.step, this.showsPast);
  }

  size() {
    return { width: this.place.clientWidth, height: this.place.clientHeight };
  }

  make() {
    const uPlot = chartLibrary();
    const stroke = () => colour("soft");
    const grid = { stroke: () => colour("grid"), width: 1 };
    const font = `12px ${getComputedStyle(this.place).fontFamily}`;
    /** @type {{at: number, text: string}[]} */
    let days = [];
    return new uPlot(
      {
        ...this.size(),
        padding: [8, 20, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        tzDate: (/** @type {number} */ ts) => this.date(ts),
        scales: {
          x: { time: true, range: () => [this.range.min, this.range.max] },
          y: { range: (/** @type {any} */ _, /** @type {number | null} */ low, /** @type {number | null} */ high) => reach(low, high) },
        },
        axes: [
          {
            stroke, grid, ticks: { ...grid, size: 4 }, space: 44, font, gap: 2, size: () => (this.isLow() ? 2 : TIMES_PX),
            values: (/** @type {any} */ _, /** @type {number[]} */ splits) => this.timeLabels(splits),
          },
          {
            scale: "x", side: 2, stroke, grid: { show: false }, ticks: { show: false }, font, gap: 3, size: DAYS_PX,
            splits: (/** @type {any} */ plot) => (days = this.dayLabels(plot, font)).map(({ at }) => at),
            values: () => days.map(({ text }) => text),
          },
          {
            stroke, grid, ticks: { show: false }, size: 48, font, gap: 6,
            values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((value) => this.priceLabel(value, splits)),
          },
        ],
        series: [
          {},
          { stroke: "transparent", points: { show: false } },
          { stroke: () => colour("forecast"), width: 2, points: { show: false } },
          { stroke: "transparent", points: { show: false } },
          { stroke: () => colour("settled"), width: 2.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } },
        ],
        bands: [{ series: [3, 1], fill: () => colour("band") }],
        hooks: {
          drawClear: [(/** @type {any} */ plot) => drawBehind(plot, this.scene)],
          draw: [(/** @type {any} */ plot) => drawBefore(plot, this.scene)],
        },
      },
      this.columns(),
      this.place,
    );
  }

  /** Draws again what has changed: prices, unit, language, colours or what is found. */
  draw() {
    this.plot.batch(() => {
      this.plot.setData(this.columns(), false);
      this.plot.setScale("x", this.range);
    });
    this.plot.redraw(true, true);
    this.listener.moved(this.range);
  }

  /** @param {number} min @param {number} max */
  show(min, max) {
    this.range = { min, max };
    this.plot.setScale("x", this.range);
    this.listener.moved(this.range);
  }

  /** The instant at a distance from the plot's left edge, in CSS pixels. @param {number} left */
  instantAt(left) {
    return this.plot.posToVal(left, "x");
  }

  /** Points at a period, or at none. @param {number | null} ts */
  point(ts) {
    if (ts === this.scene.pointed) return;
    this.scene.pointed = ts;
    this.plot.redraw(false, false);
    this.listener.pointed(ts);
  }

  isLow() {
    return this.place.clientHeight < LOW_PX;
  }

  /** The date whose local time is that of the page's zone. Calendars are slow, and axes ask with every move. @param {number} ts */
  date(ts) {
    const { zone } = this.scene.wording;
    const key = `${ts} ${zone}`;
    const found = this.dates.get(key) ?? chartLibrary().tzDate(new Date(ts * 1000), zone);
    if (this.dates.size > MOST_DATES) this.dates.clear();
    this.dates.set(key, found);
    return found;
  }

  /** @param {number[]} splits */
  timeLabels(splits) {
    return splits.map((ts) => (this.isLow() ? "" : this.scene.wording.wall(ts).slice(11)));
  }

  /** @param {any} plot @param {string} font */
  dayLabels({ ctx, bbox }, font) {
    const { wording } = this.scene;
    const pxPerSecond = bbox.width / devicePixelRatio / (this.range.max - this.range.min);
    ctx.save();
    ctx.font = font;
    const widthOf = (/** @type {string} */ text) => ctx.measureText(text).width;
    const names = dayNames(daysOf(this.scene), this.range, pxPerSecond, (ts) => wording.dayInEveryWay(ts), widthOf);
    ctx.restore();
    return names;
  }

  /** @param {number} value @param {number[]} splits */
  priceLabel(value, splits) {
    const step = splits.length > 1 ? splits[1] - splits[0] : 1;
    const decimals = [0, 1, 2].find((digits) => Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6);
    return this.scene.wording.price(value, decimals ?? 3);
  }
}

/** The price axis: holds zero and all that is in view. @param {number | null} low @param {number | null} high */
function reach(low, high) {
  const bottom = Math.min(0, low ?? 0);
  const top = Math.max(0, high ?? 1);
  const margin = (top - bottom) * 0.05 || 1;
  return [bottom < 0 ? bottom - margin : 0, top + margin];
}
