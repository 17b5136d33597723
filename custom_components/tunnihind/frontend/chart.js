// The price chart of the card and of the server's pages.
//
// Instants are unix seconds. Coordinates and sizes are in CSS pixels. The host of a chart is the card or a page. The
// host's style sheet sets the colours. The host's subclasses add texts and drawings.

/** @import * as types from "./chart.types" */
/** @typedef {types.Day} Day @typedef {types.Label} Label @typedef {types.Period} Period */
/** @typedef {types.PlotLayout} PlotLayout @typedef {types.Scene} Scene @typedef {types.Span} Span */

export const HOUR_S = 3600;
export const DAY_S = 24 * HOUR_S;
const QUARTER_S = HOUR_S / 4;

/** The CSS classes of prices: five from cheap to expensive, one for prices below zero, one for an unknown colour. */
export const TINTS = ["t0", "t1", "t2", "t3", "t4", "negative", "unknown"];

/**
 * The index of an amount's colour in TINTS. `bounds` lists the four amounts at which the colour changes. If they are
 * unknown, `bounds` is empty, and all amounts from zero on have the first colour.
 * @param {number} amount @param {number[]} bounds
 */
export const tintOf = (amount, bounds) => (amount < 0 ? TINTS.indexOf("negative") : bounds.filter((bound) => bound <= amount).length);

/**
 * Compares the mean prices after an immediate start and after a later start of a device. A difference matters if it is
 * at least `cent`, 1 c/kWh in the unit of the prices, and a tenth of `atOnce`. `core/start.py` has the same rule.
 * @param {number} atOnce @param {number} later @param {number} cent
 * @returns {"now" | "later" | "either"}
 */
export function bestStart(atOnce, later, cent) {
  const matters = Math.max(cent, Math.abs(atOnce) / 10) - 1e-9;
  return atOnce - later >= matters ? "later" : later - atOnce >= matters ? "now" : "either";
}

// --- times

/** The clock of a time zone. The default is the device's time zone. */
export class Clock {
  /** @param {string} [timeZone] */
  constructor(timeZone) {
    this.offsetFormat = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    /** @type {Record<number, number>} */
    this.offsets = {};
  }

  /** The seconds by which the wall clock is ahead of UTC. They are cached, because formatting dates is slow. @param {number} ts */
  utcOffset(ts) {
    const place = Math.floor(ts / QUARTER_S);
    return (this.offsets[place] ??= this.findOffset(ts));
  }

  /** @param {number} ts */
  findOffset(ts) {
    const [, sign, hours, minutes] = /([+-])(\d+):(\d+)/.exec(this.offsetFormat.format(ts * 1000)) ?? ["", "+", 0, 0];
    return Number(`${sign}1`) * (Number(hours) * HOUR_S + Number(minutes) * 60);
  }

  /** The date and time on the clock, like `2026-11-20T14:00`. @param {number} ts */
  wallTime(ts) {
    return new Date((ts + this.utcOffset(ts)) * 1000).toISOString().slice(0, 16);
  }

  /** Returns whether an instant is in the hour that comes twice when summer time ends. @param {number} ts */
  isRepeated(ts) {
    const [before, at, after] = [-HOUR_S, 0, HOUR_S].map((away) => this.utcOffset(ts + away));
    return before - at === HOUR_S || at - after === HOUR_S;
  }

  /** The start of an instant's local day, or of the day `days` later. @param {number} ts @param {number} days */
  midnight(ts, days = 0) {
    const wall = Math.floor((ts + this.utcOffset(ts)) / DAY_S + days) * DAY_S;
    return wall - this.utcOffset(wall - this.utcOffset(wall - this.utcOffset(ts)));
  }

  /** The names of an instant's day, from the longest to the shortest. @param {number} ts @returns {string[]} */
  dayNames(ts) {
    return [String(ts)];
  }

  /** The text that stands below the chart at a full hour. @param {number} ts */
  hourText(ts) {
    return String(ts);
  }

  /** The local days from a midnight to a later instant. @param {number} from @param {number} to */
  daysOf(from, to) {
    /** @type {Day[]} */
    const days = [];
    for (let [start, end] = [from, 0]; start < to; start = end) {
      end = this.midnight(start, 1);
      const hours = [];
      for (let ts = start; ts < end; ts += HOUR_S) {
        hours.push({ ts, hour: ((ts + this.utcOffset(ts)) % DAY_S) / HOUR_S, text: this.hourText(ts) });
      }
      days.push({ start, end, number: Math.floor((start + this.utcOffset(start)) / DAY_S), names: this.dayNames(start), hours });
    }
    return days;
  }
}

// --- calculations

/** @param {Period} period */
export const isPublished = (period) => period.low === null;

/** The index of the first period that ends after an instant, or the number of periods if none does. @param {{end: number}[]} periods @param {number} ts */
export function indexAt(periods, ts) {
  let [low, high] = [0, periods.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (periods[middle].end > ts) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The period that contains an instant, or undefined if none does.
 * @template {{start: number, end: number}} P @param {P[]} periods @param {number} ts
 */
export function periodAt(periods, ts) {
  const found = periods[indexAt(periods, ts)];
  return found && found.start <= ts ? found : undefined;
}

/** @template {{start: number, end: number}} P @param {P[]} periods @param {Span} view */
export const periodsInView = (periods, { from, to }) => periods.slice(indexAt(periods, from), indexAt(periods, to) + 1).filter(({ start }) => start < to);

/** The smallest step of 1, 2 or 5 times a power of ten with which `steps` steps cover `reach`. @param {number} reach @param {number} steps */
export function roundStep(reach, steps) {
  const power = 10 ** Math.floor(Math.log10(reach / steps));
  return power * ([1, 2, 5].find((factor) => factor * power * steps >= reach * (1 - 1e-9)) ?? 10);
}

/** The multiples of `step` on the price axis, and the number of decimals that they need. @param {number} least @param {number} most the ends of the axis @param {number} step */
export function priceTicks(least, most, step) {
  const first = Math.ceil(least / step - 1e-9);
  const ticks = Array.from({ length: Math.floor(most / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
  return { ticks, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/** The number of hours between two times below the chart, or undefined if even 12 hours have no room for a time. @param {number} px the room for a time @param {number} pxPerSecond */
export const hoursBetweenLabels = (px, pxPerSecond) => [1, 2, 3, 4, 6, 8, 12].find((hours) => hours * HOUR_S * pxPerSecond >= px);

const DAY_GAP_PX = 8;

/**
 * The names of the days in view. `at` is the instant at the middle of a name.
 * If a whole day has room for its shortest name, each day has a name in the middle of its visible part, unless this
 * part is too short for a name. Otherwise, only one of `every` days has a name, at the start of the day. These days are
 * chosen by their `number` and not by the start of the view, so that names don't flicker while the view moves.
 * @param {Pick<Day, "start" | "end" | "number" | "names">[]} days @param {Span} view @param {number} pxPerSecond
 * @param {(text: string) => number} widthOf the width of a text
 * @returns {{every: number, names: {at: number, text: string}[]}} `every` is the number of days per name
 */
export function dayLabels(days, view, pxPerSecond, widthOf) {
  const seen = days
    .map((day) => ({ ...day, from: Math.max(day.start, view.from), to: Math.min(day.end, view.to) }))
    .filter(({ from, to }) => from < to);
  const room = (/** @type {string} */ text) => (widthOf(text) + DAY_GAP_PX) / pxPerSecond;
  const widest = (seen[0]?.names ?? []).map((_, way) => Math.max(...seen.map(({ names }) => room(names[way]))));
  const doesAnyFit = seen.some(({ names }) => room(names[names.length - 1]) <= DAY_S);
  const way = doesAnyFit ? widest.findIndex((seconds, i) => seconds <= DAY_S || i === widest.length - 1) : -1;
  const every = way < 0 ? Math.ceil(widest[0] / DAY_S) : 1;
  const found = seen.flatMap(({ number, start, from, to, names }) => {
    if (every === 1) {
      const text = names.slice(way).find((candidate) => room(candidate) <= to - from);
      return text ? [{ at: (from + to) / 2, text }] : [];
    }
    const half = room(names[0]) / 2;
    return number % every === 0 && start - half >= view.from && start + half <= view.to ? [{ at: start, text: names[0] }] : [];
  });
  return { every, names: found };
}

/**
 * Leaves out each label that is closer than `gap` to a label kept before.
 * @template {{at: number, width: number}} L  `at` is the middle
 * @param {L[]} labels @param {number} gap
 */
export function withoutOverlaps(labels, gap) {
  /** @type {L[]} */
  const kept = [];
  for (const label of labels) {
    if (kept.every((other) => Math.abs(other.at - label.at) >= (other.width + label.width) / 2 + gap)) kept.push(label);
  }
  return kept;
}

/** The middle of a label, moved to fit between two edges. @param {number} at @param {number} width @param {number} left @param {number} right */
export const middleWithin = (at, width, left, right) => Math.min(Math.max(at, left + width / 2), right - width / 2);

// --- drawing

/** The heights of the times and the day names below the plot, and of the labels above it. */
export const [HOURS_PX, DAYS_PX, BAND_PX] = [17, 18, 18];
const [FONT_PX, GAP_PX] = [12, 6];

const pathElements = (/** @type {string[]} */ names) => names.map((name) => `<path class="${name}"/>`).join("");
const barClasses = (/** @type {string} */ when) => TINTS.map((tint) => `${when} bar ${tint}`);
/** @param {string[]} behind @param {string[]} before @param {string} more */
const pictureHtml = (behind, before, more) => `<svg aria-hidden="true"><defs><clipPath id="plot-area"><rect class="clip"/></clipPath>${more}</defs>
<g clip-path="url(#plot-area)">${pathElements([...behind, "midnights", "grid", ...barClasses("past"), ...barClasses("coming"), "pointed"])}
${pathElements(["likely", "median", "zero", ...before, "present"])}</g>${["prices", "hours", "days", "zones", "marks", "names"].map((name) => `<g class="${name}"></g>`).join("")}</svg>`;

/** Draws prices into an SVG picture. The number of paths is fixed, so more periods only make paths longer. */
export class Drawing {
  /**
   * @param {HTMLElement} place
   * @param {{behind?: string[], before?: string[], more?: string}} own the classes of the host's paths behind and in front of the prices, and SVG definitions for them
   */
  constructor(place, { behind = [], before = [], more = "" }) {
    this.place = place;
    place.innerHTML = pictureHtml(behind, before, more);
    /** @type {Record<string, Element>} */
    this.parts = Object.fromEntries([...place.querySelectorAll("[class]")].map((part) => [part.getAttribute("class"), part]));
    this.pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    /** @type {Record<string, number>} */
    this.widths = {};
    this.size = { width: 0, height: 0 };
    /** The size of texts and of the room for them, relative to the usual size. */
    this.textScale = 1;
    this.zeroY = 0;
    /** The edges of the plot, the starts of its axes, and the pixels per second and per amount of 1. */
    this.plot = { left: 0, right: 0, top: 0, bottom: 0, from: 0, pxPerSecond: 1, least: 0, pxPerAmount: 0 };
  }

  /** Reads the size and the font of the place. */
  measure() {
    this.size = { width: this.place.clientWidth, height: this.place.clientHeight };
    this.pen.font = `600 ${FONT_PX * this.textScale}px ${getComputedStyle(this.place).fontFamily}`;
    this.widths = {};
  }

  /** @param {string} text */
  widthOf(text) {
    return (this.widths[text] ??= Math.ceil(this.pen.measureText(text).width));
  }

  /** A price in the reader's unit. @param {number} price */
  amount(price) {
    return price;
  }

  /** The text of an amount at the axis. @param {number} amount @param {number} decimals */
  amountText(amount, decimals) {
    return amount.toFixed(decimals);
  }

  /** The ends of the price axis, and the step between its ticks. @param {number} least @param {number} most the range to show @param {number} _height of the plot */
  axis(least, most, _height) {
    return { least, most, step: roundStep(most - least, 5) };
  }

  /** The x coordinate of an instant, in whole pixels so that paths are drawn faster. @param {number} ts */
  x(ts) {
    return Math.round(this.plot.left + (ts - this.plot.from) * this.plot.pxPerSecond);
  }

  /** @param {number} price */
  y(price) {
    return Math.round(this.plot.bottom - (this.amount(price) - this.plot.least) * this.plot.pxPerAmount);
  }

  /**
   * Draws the chart of the prices. Returns the periods in view.
   * @template {Scene} S @param {S} scene @param {PlotLayout} layout @param {Period[]} [others] more periods that have to fit on the price axis
   */
  drawPrices(scene, layout, others = []) {
    const { now, view, pointedStart } = scene;
    /** @type {S["periods"]} */
    const seen = periodsInView(scene.periods, view);
    const forecast = scene.forecasts ? periodsInView(scene.forecasts, view) : seen.filter((period) => !isPublished(period));
    this.drawPriceAxis(view, [...seen, ...forecast, ...others], layout);
    this.drawPublished(seen.filter(isPublished), now);
    this.drawForecast(forecast);
    this.drawTimes(scene, layout);
    const isNow = now >= view.from && now < view.to;
    this.setPath("present", isNow ? `M${this.x(now) + 0.5} ${layout.top - 2}V${layout.bottom}` : "");
    const shown = pointedStart === null ? undefined : periodAt(seen, pointedStart);
    this.setPath("pointed", shown ? this.fullHeightPath(shown.start, shown.end) : "");
    return seen;
  }

  /** Fits the time axis to the view, and the price axis to zero and all of `seen`. Draws the price axis. @param {Span} view @param {Period[]} seen @param {PlotLayout} layout */
  drawPriceAxis({ from, to }, seen, { left: given, right, top, bottom, hasAxis }) {
    let [low, high] = [0, 0];
    for (const period of seen) {
      low = Math.min(low, period.low ?? period.price);
      high = Math.max(high, period.high ?? period.price);
    }
    const { least, most, step } = this.axis(this.amount(low), this.amount(high), bottom - top);
    const pxPerAmount = (bottom - top) / (most - least);
    const { ticks, decimals } = priceTicks(least, most, step);
    const labels = hasAxis ? ticks.map((tick) => this.amountText(tick, decimals)) : [];
    const left = given ?? (hasAxis ? Math.max(20, ...labels.map((label) => this.widthOf(label))) + 8 : 0);
    this.plot = { left, right, top, bottom, from, pxPerSecond: (right - left) / (to - from), least, pxPerAmount };
    const lines = ticks.map((tick) => Math.round(bottom - (tick - least) * pxPerAmount) + 0.5);
    setAttributes(this.parts.clip, { x: left, width: Math.max(0, right - left), height: this.size.height });
    this.setPath("grid", hasAxis ? lines.map((y) => `M${left} ${y}H${right}`).join("") : "");
    this.zeroY = this.y(0) + 0.5;
    this.setPath("zero", `M${left} ${this.zeroY}H${right}`);
    // No label of the price axis reaches below the plot, because the leftmost time may stand there.
    const baseline = (/** @type {number} */ line) => Math.min(line + 3.5 * this.textScale, bottom);
    this.showLabels("prices", labels.map((text, i) => ({ text, x: left - (given ? 4 : 8) * this.textScale, y: baseline(lines[i]), anchor: "end" })));
  }

  /** Draws two paths for each colour, one of them for past periods. @param {Period[]} published @param {number} now */
  drawPublished(published, now) {
    const drawn = Object.fromEntries([...barClasses("past"), ...barClasses("coming")].map((name) => [name, ""]));
    for (const { start, end, price, tint } of published) {
      const tip = this.y(price) + 0.5;
      // A bar without height is drawn one pixel high, so that it is visible.
      drawn[`${end <= now ? "past" : "coming"} bar ${TINTS[tint ?? TINTS.length - 1]}`] += this.barPath(this.x(start), this.x(end), tip === this.zeroY ? tip - 1 : tip);
    }
    for (const name in drawn) this.setPath(name, drawn[name]);
  }

  /** A bar from the zero line to the y coordinate `tip`. @param {number} left @param {number} right @param {number} tip */
  barPath(left, right, tip) {
    return `M${left} ${this.zeroY}V${tip}H${right}V${this.zeroY}Z`;
  }

  /** @param {Period[]} forecast */
  drawForecast(forecast) {
    this.setPath("likely", forecast.map(({ start, end, low, high }) => this.boxPath(start, this.y(high ?? 0), end, this.y(low ?? 0))).join(""));
    this.setPath("median", this.stepPath(forecast));
  }

  /** Shows labels above the plot, as far as they fit. @param {{text: string, kind: string, at: number, width: number}[]} labels */
  drawLabelsAbove(labels) {
    const { right, top } = this.plot;
    const fitting = withoutOverlaps(labels, GAP_PX).filter(({ at, width }) => top >= BAND_PX * this.textScale && at + width / 2 <= right + 1);
    this.showLabels("zones", fitting.map((label) => ({ ...label, x: label.at, y: top - GAP_PX * this.textScale })));
  }

  /** @param {Scene} scene @param {PlotLayout} layout */
  drawTimes({ days, view }, { below, hasAxis, hasHours }) {
    const { left, right, top, pxPerSecond } = this.plot;
    const shown = days.filter(({ start, end }) => end > view.from && start < view.to);
    const end = below + (hasAxis ? DAYS_PX + (hasHours ? HOURS_PX : 0) : 0) * this.textScale;
    const { every, names } = dayLabels(hasAxis ? shown : [], view, pxPerSecond, (text) => this.widthOf(text));
    // The lines at midnight separate names in the middle of days, but end above names at the start of days.
    const lines = shown.filter(({ start, number }) => start > view.from && number % every === 0);
    this.setPath("midnights", lines.map(({ start }) => `M${this.x(start) + 0.5} ${top}V${every > 1 ? below : end}`).join(""));
    const room = Math.max(0, ...shown.flatMap(({ hours }) => hours.map(({ text }) => this.widthOf(text))));
    const step = hasHours && hoursBetweenLabels(room + 10, pxPerSecond);
    const hours = step ? shown.flatMap((day) => day.hours.filter(({ hour }) => hour % step === 0)) : [];
    const times = hours.map(({ ts, text }) => ({ text, at: this.x(ts), width: this.widthOf(text), x: this.x(ts), y: below + 13 * this.textScale }));
    const inside = times.filter(({ at, width }) => at >= left && at - width / 2 >= 0 && at + width / 2 <= right + 4);
    this.showLabels("hours", withoutOverlaps(inside, 4));
    this.showLabels("days", names.map(({ at, text }) => ({ text, x: left + (at - view.from) * pxPerSecond, y: end - 5 * this.textScale })));
  }

  /** A line of steps, with gaps where prices are unknown. @param {Period[]} periods */
  stepPath(periods) {
    let [path, until] = ["", NaN];
    for (const { start, end, price } of periods) {
      const joint = start === until ? "V" : `M${this.x(start)} `;
      path += `${joint}${this.y(price)}H${this.x(end)}`;
      until = end;
    }
    return path;
  }

  /** A box from one instant to another, as high as the plot. @param {number} from @param {number} to */
  fullHeightPath(from, to) {
    return this.boxPath(from, this.plot.top, to, this.plot.bottom);
  }

  /** @param {number} from @param {number} top @param {number} to @param {number} bottom */
  boxPath(from, top, to, bottom) {
    const [left, right] = [this.x(from), this.x(to)];
    return `M${left} ${top}H${right}V${bottom}H${left}Z`;
  }

  /** @param {string} name @param {string} d */
  setPath(name, d) {
    setAttributes(this.parts[name], { d });
  }

  /** Shows labels in the group `name`. @param {string} name @param {Label[]} labels */
  showLabels(name, labels) {
    const group = this.parts[name];
    labels.forEach(({ text, x, y, anchor = "middle", kind = "" }, i) => {
      const node = group.children[i] ?? group.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "text"));
      setAttributes(node, { x: Math.round(x * 2) / 2, y: Math.round(y * 2) / 2, "text-anchor": anchor, class: kind });
      setText(node, text);
    });
    while (group.children.length > labels.length) group.lastElementChild?.remove();
  }
}

/** @param {Element} element @param {Record<string, string | number>} attributes */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
  }
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// --- moving

const SHORTEST_VIEW_S = 6 * HOUR_S;
export const ZOOM = 1.5;
const SCRUB_AFTER_MS = 350;
const DRAG_THRESHOLD_PX = 6;
const EVENT_NAMES = ["pointerdown", "pointermove", "pointerup", "pointercancel", "pointerleave", "wheel", "keydown", "focusout"];

/**
 * Lets the reader move and zoom the chart, and point at periods, by pointer, touch and keys. The host sets `scene` and
 * `viewLimits`.
 * @template {Scene} S @template {Drawing & {draw(scene: S): void}} D
 */
export class Chart {
  /** @param {HTMLElement} place receives the events @param {D} drawing @param {() => number} clock @param {() => void} listener called when the view or the period pointed at changes */
  constructor(place, drawing, clock, listener) {
    this.place = place;
    this.clock = clock;
    this.listener = listener;
    this.drawing = drawing;
    /** @type {S | null} */
    this.scene = null;
    /** @type {Span} the limits of the view */
    this.viewLimits = { from: 0, to: 0 };
    /** @type {Map<number, number>} the x coordinate of each pressed pointer, by its id */
    this.pressedPointers = new Map();
    this.downAt = NaN;
    this.isScrubbing = false;
    this.scrubTimer = 0;
    this.frame = 0;
    for (const name of EVENT_NAMES) place.addEventListener(name, this, { passive: false });
  }

  get view() {
    return this.scene?.view ?? { from: 0, to: 1 };
  }

  /** Called when the reader presses the key Home. A subclass shows its default view. */
  showDefaultView() {}

  /** Called when the reader steps before the first period. */
  onStepBeforeStart() {}

  /** Called before the reader moves or zooms the view. */
  beforeReaderMoves() {}

  /** @param {Span} view */
  setView({ from, to }) {
    const { scene, viewLimits } = this;
    if (!scene) return;
    const length = Math.min(Math.max(to - from, SHORTEST_VIEW_S), viewLimits.to - viewLimits.from);
    const start = Math.min(Math.max(from, viewLimits.from), viewLimits.to - length);
    scene.view = { from: start, to: start + length };
    this.redraw();
    this.listener();
  }

  /** @param {number} seconds */
  pan(seconds) {
    const { from, to } = this.view;
    this.beforeReaderMoves();
    this.setView({ from: from + seconds, to: to + seconds });
  }

  /** Moves the view by a part of its length. @param {number} part */
  panByShare(part) {
    this.pan((this.view.to - this.view.from) * part);
  }

  /**
   * Zooms in for factors above 1, else out. The instant `around` stays in place, unless the limits of the view move it.
   * By default, `around` is the start of the period pointed at, or else the present if it is in view, or else the
   * middle of the view.
   * @param {number} [factor] @param {number} [around]
   */
  zoom(factor = ZOOM, around) {
    const { from, to } = this.view;
    const now = this.clock();
    const kept = around ?? this.scene?.pointedStart ?? (now > from && now < to ? now : (from + to) / 2);
    const length = Math.max((to - from) / factor, SHORTEST_VIEW_S);
    const start = kept - ((kept - from) / (to - from)) * length;
    this.beforeReaderMoves();
    this.setView({ from: start, to: start + length });
  }

  /** Points at the period that contains an instant, or at none. @param {number | null} ts @param {PointerEvent} [event] the pointer's event */
  pointAtInstant(ts, event) {
    const { scene } = this;
    const pointedStart = ts === null ? null : (periodAt(scene?.periods ?? [], ts)?.start ?? null);
    if (!scene || pointedStart === scene.pointedStart) return;
    scene.pointedStart = pointedStart;
    this.redraw();
    this.listener();
  }

  /**
   * Points at the period `places` after the period pointed at, but never beyond the first or the last period. If no
   * period is pointed at, points at the present period. Moves the view to show the period now pointed at.
   * @param {number} places
   */
  stepPointed(places) {
    const { periods = [], pointedStart = null, now = 0 } = this.scene ?? {};
    const place = indexAt(periods, pointedStart ?? now) + (pointedStart === null ? 0 : places);
    if (place < 0) this.onStepBeforeStart();
    const period = periods[Math.min(Math.max(place, 0), periods.length - 1)];
    if (!period) return;
    const { from, to } = this.view;
    if (period.start < from || period.end > to) this.pan(period.start < from ? period.start - from : period.end - to);
    this.pointAtInstant(period.start);
  }

  redraw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      if (this.scene) this.drawing.draw(this.scene);
    });
  }

  /** The seconds per pixel of the current view, even if it is not drawn yet. */
  get secondsPerPx() {
    const { left, right } = this.drawing.plot;
    return (this.view.to - this.view.from) / (right - left);
  }

  /** The instant at a pointer's `clientX`. @param {number} clientX */
  instantAt(clientX) {
    return this.view.from + (clientX - this.place.getBoundingClientRect().left - this.drawing.plot.left) * this.secondsPerPx;
  }

  /** Points at the period under a pointer. If the pointer is beside the plot, points at the period at the edge of the view. @param {PointerEvent} event */
  pointAtPointer(event) {
    const { from, to } = this.view;
    this.pointAtInstant(Math.min(Math.max(this.instantAt(event.clientX), from), to - 1), event);
  }

  /** @param {any} event */
  handleEvent(event) {
    if (event.type === "pointerdown") this.onPointerDown(event);
    else if (event.type === "pointermove") this.onPointerMove(event);
    else if (event.type === "wheel") this.onWheel(event);
    else if (event.type === "keydown") this.onKeyDown(event);
    else if (event.type === "focusout") this.onFocusOut();
    else if (event.type === "pointerleave") event.pointerType === "mouse" && !this.pressedPointers.size && this.pointAtInstant(null);
    else this.onPointerUp(event);
  }

  /** When the focus leaves the chart, points at no period. */
  onFocusOut() {
    this.pointAtInstant(null);
  }

  /** @param {PointerEvent} event */
  onPointerDown(event) {
    const { button, pointerId, pointerType, clientX, target } = event;
    if (button !== 0 || /** @type {Element} */ (target).localName === "button") return;
    this.place.setPointerCapture(pointerId);
    this.pressedPointers.set(pointerId, clientX);
    this.downAt = clientX;
    this.pointAtPointer(event);
    clearTimeout(this.scrubTimer);
    // A finger that rests before it moves points at prices. A finger that moves at once moves the chart.
    if (pointerType !== "mouse") this.scrubTimer = setTimeout(() => (this.isScrubbing = this.pressedPointers.size === 1), SCRUB_AFTER_MS);
  }

  /** @param {PointerEvent} event */
  onPointerMove(event) {
    const { pointerId, pointerType, clientX, buttons } = event;
    // The event of a button's release may have gone to a menu, so `pressedPointers` may contain pointers without a pressed button.
    if (!buttons) this.pressedPointers.clear();
    const before = this.pressedPointers.get(pointerId);
    if (before !== undefined) {
      const other = [...this.pressedPointers].find(([id]) => id !== pointerId)?.[1];
      if (other === undefined && !this.isScrubbing) {
        if (Math.abs(clientX - this.downAt) < DRAG_THRESHOLD_PX) return;
        this.downAt = NaN;
        this.pan(this.instantAt(before) - this.instantAt(clientX));
      } else if (other !== undefined && Math.min(Math.abs(clientX - other), Math.abs(before - other)) > DRAG_THRESHOLD_PX) {
        this.zoom(Math.abs(clientX - other) / Math.abs(before - other), this.instantAt(other));
      }
      if (!this.isScrubbing) clearTimeout(this.scrubTimer);
      this.pressedPointers.set(pointerId, clientX);
    } else if (pointerType !== "mouse") return;
    this.pointAtPointer(event);
  }

  /** @param {PointerEvent} event */
  onPointerUp({ type, pointerId }) {
    clearTimeout(this.scrubTimer);
    this.pressedPointers.delete(pointerId);
    this.isScrubbing &&= this.pressedPointers.size > 0;
    // The browser cancels a touch that scrolls the page.
    if (type === "pointercancel") this.pointAtInstant(null);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    const { ctrlKey, shiftKey, deltaX, deltaY } = event;
    if (!ctrlKey && !shiftKey && Math.abs(deltaX) <= Math.abs(deltaY)) return;
    event.preventDefault();
    if (ctrlKey) this.zoom(deltaY < 0 ? ZOOM : 1 / ZOOM, this.instantAt(event.clientX));
    else this.pan((deltaX || deltaY) * this.secondsPerPx);
  }

  /** @param {KeyboardEvent} event */
  onKeyDown(event) {
    const { key, shiftKey } = event;
    const [first] = this.scene?.periods ?? [];
    const day = first ? DAY_S / (first.end - first.start) : 0;
    const arrow = (/** @type {number} */ way) => (shiftKey ? this.panByShare(way / 4) : this.stepPointed(way));
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => arrow(-1),
      ArrowRight: () => arrow(1),
      PageUp: () => this.stepPointed(-day),
      PageDown: () => this.stepPointed(day),
      "+": () => this.zoom(),
      "-": () => this.zoom(1 / ZOOM),
      Home: () => (this.showDefaultView(), this.pointAtInstant(this.clock())),
      Escape: () => this.pointAtInstant(null),
    };
    const action = actions[key === "=" ? "+" : key];
    if (!action || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}
