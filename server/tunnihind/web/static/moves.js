// Moving in the chart: with a mouse, with fingers, with the keyboard and with its buttons.

import { choose, chosen } from "./address.js";
import { DAY_S, floorTo, HOUR_S } from "./periods.js";

const NEAREST_S = 6 * HOUR_S;
const MARGIN_S = 2 * HOUR_S;
const ZOOM = 1.5;
/** Browsers refuse an address that changes with every pixel of a drag. */
const REST_MS = 250;
const SPANS = ["near", "ahead", "week", "all"];

export class Moves {
  /**
   * @param {import("./chart.js").Chart} chart @param {HTMLElement} card the section with the chart's buttons
   * @param {() => boolean} awaitsPast asks for periods before the first one, and tells whether they are still to come
   */
  constructor(chart, card, awaitsPast) {
    this.chart = chart;
    this.card = card;
    this.awaitsPast = awaitsPast;
    /** @type {Map<number, number>} where each finger or the mouse is */
    this.held = new Map();
    /** What is shown unless the reader chooses: where there is little room, only today and tomorrow. */
    this.usual = matchMedia("(max-width: 36rem)").matches ? "near" : "ahead";
    this.name = SPANS.find((name) => name === chosen("span")) ?? this.usual;
    const [min, max] = [Number(chosen("from")), Number(chosen("to"))];
    /** @type {{min: number, max: number} | null} a range without a name that the reader has chosen */
    this.chosen = max - min >= HOUR_S && min > 0 ? { min, max } : null;
    /** What would be shown if all that it begins with were here. */
    this.wanted = chart.range;
    this.timer = 0;
    this.listen();
  }

  /** The first and the last period that there is, and the end of what can be seen: a little room after the last. */
  bounds() {
    const { periods, step } = this.chart.scene;
    const all = [...periods.keys()];
    const last = all[all.length - 1];
    return { first: all[0], last, end: last + step + MARGIN_S };
  }

  /** Shows what is chosen, within bounds; to be called again when the periods have changed. */
  apply() {
    const { first, last, end } = this.bounds();
    // Where nothing is known of today, the latest day that there is tells more than an edge of it.
    const today = this.startOfDay(Math.min(this.chart.scene.now(), last));
    // All of it begins before what is here, unless that is all.
    const start = this.name === "all" ? first - 1 : this.name === "week" ? today - 7 * DAY_S : today;
    // A day is an hour longer or shorter where clocks are changed.
    const near = this.startOfDay(today + 2 * DAY_S + 2 * HOUR_S);
    const { min, max } = this.chosen ?? { min: start, max: this.name === "near" ? Math.min(near, end) : end };
    const isBefore = min < first && this.awaitsPast();
    const length = Math.min(Math.max(max - min, NEAREST_S), end - first);
    const from = Math.min(Math.max(min, first), end - length);
    this.chart.show(from, from + length);
    // What is cut only until the past has come is shown then.
    this.wanted = isBefore ? { min, max } : this.chart.range;
    if (this.chosen) this.chosen = this.wanted;
    for (const button of this.card.querySelectorAll("[data-span]")) {
      const isShown = !this.chosen && button.getAttribute("data-span") === this.name;
      button.setAttribute("aria-pressed", String(isShown));
    }
  }

  /** Chooses a range by its name. @param {string} name */
  span(name) {
    this.name = name;
    this.chosen = null;
    this.apply();
    this.remember();
  }

  /** @param {number} instant */
  startOfDay(instant) {
    const { scene } = this.chart;
    let ts = floorTo(instant, HOUR_S);
    while (scene.wording.wall(ts - 1).slice(0, 10) === scene.wording.wall(ts).slice(0, 10)) ts -= HOUR_S;
    return ts;
  }

  /** Chooses a range of the reader's own. @param {number} min @param {number} max */
  choose(min, max) {
    this.chosen = { min, max };
    this.apply();
    this.remember();
  }

  /** Writes what is chosen into the address, once the reader has stopped moving. */
  remember() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const own = this.chosen;
      choose({
        span: own || this.name === this.usual ? null : this.name,
        from: own && String(Math.round(own.min)),
        to: own && String(Math.round(own.max)),
      });
    }, REST_MS);
  }

  /** @param {number} seconds */
  pan(seconds) {
    const { min, max } = this.wanted;
    this.choose(min + seconds, max + seconds);
  }

  /** Zooms and keeps an instant where it is. @param {number} factor above 1 to see less @param {number} [around] */
  zoom(factor, around) {
    const { min, max } = this.wanted;
    const centre = around ?? this.chart.scene.pointed ?? (min + max) / 2;
    const length = Math.max((max - min) / factor, NEAREST_S);
    const start = centre - ((centre - min) / (max - min)) * length;
    this.choose(start, start + length);
  }

  listen() {
    const { over } = this.chart.plot;
    over.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.hold(event));
    over.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      over.addEventListener(end, (/** @type {PointerEvent} */ event) => this.held.delete(event.pointerId));
    }
    over.addEventListener("pointerleave", (/** @type {PointerEvent} */ event) => {
      if (event.pointerType === "mouse" && !this.held.size) this.chart.point(null);
    });
    over.addEventListener("wheel", (/** @type {WheelEvent} */ event) => this.wheel(event), { passive: false });
    over.addEventListener("dblclick", () => this.span(this.usual));
    // A finger has no way to leave the chart but to touch something else; buttons zoom around what is pointed at.
    document.addEventListener("pointerdown", (event) => {
      if (!(/** @type {Element} */ (event.target).closest("[data-chart], button"))) this.chart.point(null);
    });
    this.chart.place.addEventListener("keydown", (event) => this.key(event));
    this.card.addEventListener("click", (event) => this.press(/** @type {HTMLElement} */ (event.target)));
  }

  /** @param {PointerEvent} event */
  hold(event) {
    if (event.button !== 0) return;
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.held.set(event.pointerId, this.left(event));
    this.pointAt(event);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const left = this.left(event);
    const before = this.held.get(event.pointerId);
    if (before === undefined) {
      this.pointAt(event);
      return;
    }
    const other = [...this.held].find(([id]) => id !== event.pointerId)?.[1];
    this.held.set(event.pointerId, left);
    if (other === undefined) this.pan(this.chart.instantAt(before) - this.chart.instantAt(left));
    else if (Math.abs(left - other) > 8 && Math.abs(before - other) > 8) {
      this.zoom(Math.abs(left - other) / Math.abs(before - other), this.chart.instantAt(other));
    }
    this.pointAt(event);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !isSideways && !event.shiftKey) return;
    event.preventDefault();
    const { min, max } = this.chart.range;
    if (event.ctrlKey) this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, this.chart.instantAt(this.left(event)));
    else this.pan(((event.deltaX || event.deltaY) / this.chart.plot.over.clientWidth) * (max - min));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { min, max } = this.chart.range;
    const quarter = (max - min) / 4;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => (event.shiftKey ? this.pan(-quarter) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.pan(quarter) : this.step(1)),
      PageUp: () => this.step(-DAY_S / this.chart.scene.step),
      PageDown: () => this.step(DAY_S / this.chart.scene.step),
      "+": () => this.zoom(ZOOM),
      "-": () => this.zoom(1 / ZOOM),
      Home: () => this.home(),
      Escape: () => this.chart.point(null),
    };
    const action = actions[event.key === "=" ? "+" : event.key];
    if (!action || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    action();
  }

  /** Points at another period, and moves along so that it stays in view. @param {number} periods */
  step(periods) {
    const { scene, range } = this.chart;
    const { first, last } = this.bounds();
    const next = (scene.pointed ?? this.present()) + (scene.pointed === null ? 0 : periods * scene.step);
    if (next < first) this.awaitsPast();
    const ts = Math.min(Math.max(next, first), last);
    if (ts < range.min) this.pan(ts - range.min);
    if (ts + scene.step > range.max) this.pan(ts + scene.step - range.max);
    this.chart.point(ts);
  }

  home() {
    this.span(this.usual);
    this.chart.point(this.present());
  }

  present() {
    return floorTo(this.chart.scene.now(), this.chart.scene.step);
  }

  /** @param {HTMLElement} button */
  press(button) {
    const { min, max } = this.chart.range;
    const { span, move } = button.dataset;
    if (span) this.span(span);
    if (move === "in") this.zoom(ZOOM);
    if (move === "out") this.zoom(1 / ZOOM);
    if (move === "earlier") this.pan((min - max) / 2);
    if (move === "later") this.pan((max - min) / 2);
  }

  /** @param {PointerEvent} event */
  pointAt(event) {
    const y = event.clientY - this.chart.plot.over.getBoundingClientRect().top;
    const ts = floorTo(this.chart.instantAt(this.left(event)), this.chart.scene.step);
    this.chart.point(ts, { y, isFinger: event.pointerType === "touch" });
  }

  /** @param {MouseEvent} event */
  left(event) {
    return event.clientX - this.chart.plot.over.getBoundingClientRect().left;
  }
}
