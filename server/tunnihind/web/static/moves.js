// The page's chart, with its buttons and with its view in the address.

import { choiceOr, setChoices } from "./address.js";
import { Chart, DAY_S, HOUR_S, periodAt, tintOf, ZOOM } from "./chart.js";
import { PageDrawing } from "./drawing.js";
import { nightsOf } from "./periods.js";
import { MOST_PAST_DAYS } from "./poller.js";

const TIME_AFTER_LAST_PERIOD_S = 2 * HOUR_S;
/** The address is written after a pause of this many ms, because browsers refuse a change at each pixel of a drag. */
const ADDRESS_PAUSE_MS = 250;
const SPAN_NAMES = ["near", "ahead", "week", "all"];

/** @typedef {import("./chart.js").Span} Span */

/**
 * The view of a named span, such as `week`.
 * @param {string} name @param {Span} known from the first period to the end of the chart @param {number} now @param {import("./chart.js").Clock} clock
 */
export function namedView(name, { from, to }, now, clock) {
  // If the last period is before today, its day counts as today.
  const latest = Math.min(now, to - TIME_AFTER_LAST_PERIOD_S - 1);
  // "all" begins before the loaded periods, so that the chart requests earlier periods.
  const start = name === "all" ? from - 1 : clock.midnight(latest, name === "week" ? -7 : 0);
  return { from: start, to: name === "near" ? Math.min(clock.midnight(latest, 2), to) : to };
}

/**
 * The periods with a price or forecast, and the forecasts to draw. If `showsPast` is false, periods with a published
 * price get no forecast.
 * @param {Pick<import("./periods.js").Scene, "periods" | "step" | "wording">} data @param {boolean} showsPast
 */
export function drawnPeriods({ periods: known, step, wording: { scale } }, showsPast) {
  /** @type {import("./chart.js").Period[][]} */
  const [periods, forecasts] = [[], []];
  for (const { ts, settled, forecast } of known.values()) {
    const span = { start: ts, end: ts + step };
    const ahead = forecast && { ...span, price: forecast[1], low: forecast[0], high: forecast[2], tint: null };
    if (settled !== null) periods.push({ ...span, price: settled, low: null, high: null, tint: tintOf(settled, scale) });
    else if (ahead) periods.push(ahead);
    if (ahead && (showsPast || settled === null)) forecasts.push(ahead);
  }
  return { periods, forecasts };
}

/** @extends {Chart<import("./drawing.js").DrawnScene, PageDrawing>} */
export class PageChart extends Chart {
  /**
   * @param {HTMLElement} place @param {HTMLElement} card the section with the chart's buttons
   * @param {import("./periods.js").Scene} data the page's data
   * @param {() => boolean} requestPastPrices requests the prices of the last 14 days, and returns whether they may still come
   * @param {() => void} listener called when the data, the view, the size or the period pointed at changes, and when the pointer moves
   */
  constructor(place, card, data, requestPastPrices, listener) {
    const over = document.createElement("div");
    over.className = "over";
    super(place, new PageDrawing(place, over), data.now, listener);
    this.card = card;
    this.data = data;
    this.requestPastPrices = requestPastPrices;
    this.showsPast = false;
    /** @type {{y: number, isFinger: boolean} | null} the pointer's distance `y` from the plot's top; null without a pointer */
    this.pointer = null;
    /** The default span: today and tomorrow on a narrow screen, otherwise all periods from today on. */
    this.defaultSpan = matchMedia("(max-width: 36rem)").matches ? "near" : "ahead";
    this.spanName = SPAN_NAMES.find((name) => name === choiceOr("span")) ?? this.defaultSpan;
    const [from, to] = [Number(choiceOr("from")), Number(choiceOr("to"))];
    /** @type {Span | null} the view after moving or zooming, or from the address; null for a named span */
    this.ownView = to - from >= HOUR_S && from > 0 ? { from, to } : null;
    this.timer = 0;
    place.addEventListener("dblclick", () => this.showSpan(this.defaultSpan));
    // A press outside the chart clears the period pointed at. A press on a button doesn't, because the zoom buttons
    // zoom around this period.
    document.addEventListener("pointerdown", (event) => {
      if (!(/** @type {Element} */ (event.target).closest("[data-chart], button"))) this.point(null);
    });
    card.addEventListener("click", (event) => this.onPress(/** @type {HTMLElement} */ (event.target).dataset));
    new ResizeObserver(() => this.fit()).observe(place);
  }

  /** Draws the chart again at its current size. */
  fit() {
    this.drawing.measure();
    if (this.scene) this.drawing.draw(this.scene);
    this.listener();
  }

  /** The time from the first period to two hours after the last period. @returns {Span} */
  get knownSpan() {
    const all = [...this.data.periods.keys()];
    return { from: all[0], to: all[all.length - 1] + this.data.step + TIME_AFTER_LAST_PERIOD_S };
  }

  /** The start of the period pointed at; null if there is none. */
  get pointed() {
    return this.scene?.pointed ?? null;
  }

  /** Draws the page's current prices and the finder's results, in the reader's language, unit and time zone. */
  drawData() {
    const { wording, found, mostExpensive } = this.data;
    const drawn = drawnPeriods(this.data, this.showsPast);
    const { from, to } = this.knownSpan;
    const days = wording.daysOf(wording.midnight(Math.min(from, this.earliest)), to);
    const nights = nightsOf(days, wording)
      .map((night) => ({ from: Math.max(night.from, from), to: Math.min(night.to, to - TIME_AFTER_LAST_PERIOD_S) }))
      .filter((night) => night.from < night.to);
    const pointed = periodAt(drawn.periods, this.pointed ?? 0)?.start ?? null;
    this.scene = { ...drawn, days, nights, found, mostExpensive, wording, pointed, now: this.clock(), view: this.view };
    this.applyView();
  }

  /** The earliest instant for which the page requests prices. */
  get earliest() {
    return this.clock() - MOST_PAST_DAYS * DAY_S;
  }

  /** Shows the reader's own view, or else the named span. */
  applyView() {
    this.setView(this.ownView ?? namedView(this.spanName, this.knownSpan, this.clock(), this.data.wording));
  }

  /** Shows a view. The view may begin before the first period only while earlier periods may still come. @override @param {Span} view */
  setView(view) {
    const { from, to } = this.knownSpan;
    this.bounds = { from: view.from < from && this.requestPastPrices() ? Math.min(from, this.earliest) : from, to };
    super.setView(view);
    if (this.ownView) this.ownView = this.view;
    for (const button of this.card.querySelectorAll("[data-span]")) {
      button.setAttribute("aria-pressed", String(!this.ownView && button.getAttribute("data-span") === this.spanName));
    }
  }

  /** @override */
  redraw() {
    if (this.scene) this.scene.now = this.clock();
    super.redraw();
  }

  /** @override */
  beforeReaderMoves() {
    this.ownView = this.view;
    this.saveView();
  }

  /** @param {string} name */
  showSpan(name) {
    this.spanName = name;
    this.ownView = null;
    this.applyView();
    this.saveView();
  }

  /** @override */
  showDefaultView() {
    this.showSpan(this.defaultSpan);
  }

  /** @override */
  onStepBeforeStart() {
    this.requestPastPrices();
  }

  /** @override @param {number | null} ts @param {PointerEvent} [event] */
  point(ts, event) {
    const { pointed } = this;
    const { top } = this.drawing.overlay.getBoundingClientRect();
    this.pointer = event ? { y: event.clientY - top, isFinger: event.pointerType === "touch" } : null;
    super.point(ts);
    if (event && pointed === this.pointed) this.listener();
  }

  /** When the focus leaves the chart, keeps the period pointed at, because the zoom buttons zoom around this period. @override */
  onFocusOut() {}

  /** Writes the view into the address after `ADDRESS_PAUSE_MS` without another change of the view. */
  saveView() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { ownView } = this;
      setChoices({
        span: ownView || this.spanName === this.defaultSpan ? null : this.spanName,
        from: ownView && String(Math.round(ownView.from)),
        to: ownView && String(Math.round(ownView.to)),
      });
    }, ADDRESS_PAUSE_MS);
  }

  /** @param {DOMStringMap} button */
  onPress({ span, move }) {
    if (span) this.showSpan(span);
    if (move === "in") this.zoom();
    if (move === "out") this.zoom(1 / ZOOM);
    if (move === "earlier") this.panByShare(-1 / 2);
    if (move === "later") this.panByShare(1 / 2);
  }
}
