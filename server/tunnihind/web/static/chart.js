// The chart: settled prices as steps, the forecast's median as a line in its band. uPlot draws it.

import { DAY_S, dayNames, daysOf } from "./periods.js";
import { colour, drawBefore, drawBehind, drawSettled } from "./scene.js";

/** The room around the plot, as in the style sheet; in pixels at the usual size of text, 16 px. */
const ROOM = { axis: 40, rim: 8, head: 20, times: 18, days: 18, font: 12 };
/** In a chart of less height than this there are no times, and nothing is written above the plot, which needs the room. */
const LOW = { height: 184, head: 8, times: 2 };
const MOST_DATES = 1000;
const TICKS = 6;
/** What the price axis has beyond the least and the most that it shows, as a part of what lies between them. */
const MARGIN = 0.05;

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
   * @param {import("./scene.js").Scene} scene
   * @param {{pointed: (ts: number | null) => void, moved: (range: {min: number, max: number}) => void}} listener
   *   `moved` is called when the plot shows another range, or other data
   */
  constructor(place, scene, listener) {
    this.place = place;
    this.scene = scene;
    this.listener = listener;
    this.showsPast = false;
    /** @type {{y: number, isFinger: boolean} | null} where the pointer is, from the plot's top */
    this.spot = null;
    /** @type {Map<string, Date>} */
    this.dates = new Map();
    /** @type {{min: number, max: number}} */
    this.range = { min: 0, max: 1 };
    this.plot = this.make();
    new ResizeObserver(() => this.fit()).observe(place);
  }

  columns() {
    return columns(this.scene.periods, this.scene.step, this.showsPast);
  }

  size() {
    return { width: this.place.clientWidth, height: this.place.clientHeight };
  }

  /** Draws anew in the room that there is. */
  fit() {
    this.plot.setSize(this.size());
  }

  make() {
    const uPlot = chartLibrary();
    const stroke = () => colour("soft");
    const grid = { stroke: () => colour("grid"), width: 1 };
    const font = `${scaled(ROOM.font)}px ${getComputedStyle(this.place).fontFamily}`;
    /** @type {ReturnType<typeof dayNames>} */
    let days = { every: 1, names: [] };
    // A line belongs to what is written at it: to a time, or to the start of a day where not every day is named.
    const lines = (/** @type {boolean} */ ofDays) => ({
      ...grid, filter: (/** @type {any} */ _, /** @type {number[]} */ splits) => (ofDays === days.every > 1 ? splits : []),
    });
    let prices = priceScale(null, null);
    return new uPlot(
      {
        ...this.size(),
        padding: [() => scaled(this.isLow() ? LOW.head : ROOM.head), () => scaled(ROOM.rim), 0, 0],
        legend: { show: false },
        cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
        tzDate: (/** @type {number} */ ts) => this.date(ts),
        scales: {
          x: { time: true, range: () => [this.range.min, this.range.max] },
          y: {
            range: (/** @type {any} */ _, /** @type {number | null} */ low, /** @type {number | null} */ high) => {
              prices = priceScale(low, high);
              return [prices.bottom, prices.top];
            },
          },
        },
        axes: [
          {
            stroke, grid: lines(false), ticks: { ...lines(false), size: scaled(4) }, space: scaled(38), font, gap: scaled(2),
            size: () => scaled(this.isLow() ? LOW.times : ROOM.times),
            values: (/** @type {any} */ plot, /** @type {number[]} */ splits, /** @type {number} */ __, /** @type {number} */ ___, /** @type {number} */ apart) =>
              this.timeLabels(plot, splits, apart),
          },
          {
            scale: "x", side: 2, stroke, grid: lines(true), ticks: { show: false }, font, gap: scaled(3), size: () => scaled(ROOM.days),
            splits: (/** @type {any} */ plot) => (days = this.dayLabels(plot, font)).names.map(({ at }) => at),
            values: () => days.names.map(({ text }) => text),
          },
          {
            stroke, grid, ticks: { show: false }, size: () => scaled(ROOM.axis), font, gap: scaled(4),
            splits: () => ticksOf(prices),
            values: (/** @type {any} */ _, /** @type {number[]} */ splits) => splits.map((value) => this.priceLabel(value, splits)),
          },
        ],
        series: [
          {},
          { stroke: "transparent", points: { show: false } },
          { stroke: () => colour("forecast"), width: 2, points: { show: false } },
          { stroke: "transparent", points: { show: false } },
          // Drawn by `drawSettled`, in the colours of the scale; here it takes part in the price axis.
          { stroke: "transparent", paths: () => null, points: { show: false } },
        ],
        bands: [{ series: [3, 1], fill: () => colour("band") }],
        hooks: {
          drawClear: [(/** @type {any} */ plot) => drawBehind(plot, this.scene)],
          drawAxes: [(/** @type {any} */ plot) => drawSettled(plot, this.scene)],
          draw: [(/** @type {any} */ plot) => drawBefore(plot, this.scene, this.isLow() ? null : font)],
          setScale: [(/** @type {any} */ _, /** @type {string} */ scale) => scale === "x" && this.listener.moved(this.range)],
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
  }

  /** The instant at a distance from the plot's left edge, in CSS pixels. @param {number} left */
  instantAt(left) {
    return this.plot.posToVal(left, "x");
  }

  /**
   * Points at a period, or at none.
   * @param {number | null} ts @param {{y: number, isFinger: boolean} | null} spot where the pointer is; null for a keyboard
   */
  point(ts, spot = null) {
    const isOther = ts !== this.scene.pointed;
    if (!isOther && spot?.y === this.spot?.y) return;
    this.spot = spot;
    this.scene.pointed = ts;
    if (isOther) this.plot.redraw(false, false);
    this.listener.pointed(ts);
  }

  isLow() {
    return this.place.clientHeight < scaled(LOW.height);
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

  /**
   * The times below the plot. One that would reach over the chart's edge is left out; where days or more lie between
   * them all are, since each would be midnight.
   * @param {any} plot @param {number[]} splits @param {number} apart seconds from one to the next
   */
  timeLabels({ bbox, width }, splits, apart) {
    const pxPerSecond = bbox.width / devicePixelRatio / (this.range.max - this.range.min);
    const room = scaled(ROOM.font * 1.75);
    const isWhole = (/** @type {number} */ ts) => (ts - this.range.min) * pxPerSecond + bbox.left / devicePixelRatio + room <= width;
    return splits.map((ts) => (this.isLow() || apart >= DAY_S || !isWhole(ts) ? "" : this.scene.wording.wall(ts).slice(11)));
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

/** Lengths grow with the text of the page. @param {number} px */
function scaled(px) {
  return (px * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 16;
}

/**
 * The price axis: holds zero and all that is in view, and a little more. The same as that of the server's drawing.
 * @param {number | null} low @param {number | null} high
 */
export function priceScale(low, high) {
  const [least, most] = [Math.min(0, low ?? 0), Math.max(0, high ?? 0)];
  const reach = most - least || 1;
  const margin = reach * MARGIN;
  const magnitude = 10 ** Math.floor(Math.log10(reach / TICKS));
  const step = [1, 2, 5, 10].map((nice) => magnitude * nice).find((nice) => nice * TICKS >= reach) ?? magnitude * 10;
  return { step, bottom: least < 0 ? least - margin : 0, top: (most || (least < 0 ? 0 : 1)) + margin };
}

/** @param {{step: number, bottom: number, top: number}} scale */
function ticksOf({ step, bottom, top }) {
  const [first, last] = [Math.ceil(bottom / step), Math.floor(top / step)];
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}
