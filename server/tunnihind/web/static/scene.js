// What stands behind and before the chart's lines: nights, settled prices, the window found, the present.

import { HOUR_S, hoursOf } from "./periods.js";

/** The least distance between two words, in CSS pixels. */
const GAP_PX = 8;
const POINTED_OPACITY = 0.4;

/** @typedef {{from: number, to: number}} Span */
/**
 * @typedef {{
 *   periods: Map<number, import("./periods.js").Period>, step: number, now: () => number,
 *   found: Span[], dearest: Span[], wording: import("./wording.js").Wording, pointed: number | null,
 * }} Scene  `step` is the length of a period, `pointed` the start of one
 */

/** A colour of the page's theme. @param {string} name */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Shades nights, weekends and the cheapest time found. @param {any} plot @param {Scene} scene */
export function drawBehind(plot, scene) {
  const { ctx, bbox } = plot;
  ctx.save();
  clip(plot);
  for (const span of nightsOf(scene)) fill(plot, span, colour("night"));
  // On paper there is no finder that the marks would belong to.
  const isPaper = matchMedia("print").matches;
  for (const span of isPaper ? [] : scene.found) fill(plot, span, colour("window"));
  for (const span of isPaper ? [] : scene.dearest) hatch(plot, span, colour("avoid"));
  if (scene.pointed !== null) {
    ctx.globalAlpha = POINTED_OPACITY;
    fill(plot, { from: scene.pointed, to: scene.pointed + scene.step }, colour("limit"));
    ctx.globalAlpha = 1;
  }
  const zero = plot.valToPos(0, "y", true);
  line(ctx, bbox.left, zero, bbox.left + bbox.width, zero, colour("limit"));
  ctx.restore();
}

/**
 * Marks the present, and says above the plot what it is.
 * @param {any} plot @param {Scene} scene @param {string | null} font null where there is no room for words
 */
export function drawBefore(plot, scene, font) {
  const { ctx, bbox } = plot;
  const now = plot.valToPos(scene.now(), "x", true);
  const bottom = bbox.top + bbox.height;
  ctx.save();
  clip(plot);
  line(ctx, now, bbox.top, now, bottom, colour("present"), 2);
  ctx.restore();
  if (font !== null) nameMarks(plot, scene.wording, font, now);
}

/**
 * Writes the unit above the price axis, and the present's name above its line where that has room.
 * @param {any} plot @param {import("./wording.js").Wording} wording @param {string} font
 * @param {number} now from the left edge, in the canvas's pixels
 */
function nameMarks({ ctx, bbox }, wording, font, now) {
  const right = bbox.left + bbox.width;
  const ratio = devicePixelRatio;
  const gap = GAP_PX * ratio;
  let taken = gap / 4;
  ctx.save();
  ctx.font = font.replace(/^[\d.]+/, (px) => String(Number(px) * ratio));
  ctx.textBaseline = "bottom";
  const write = (/** @type {string} */ text, /** @type {number} */ middle, /** @type {string} */ style) => {
    const width = ctx.measureText(text).width;
    const from = Math.max(taken, Math.min(middle - width / 2, right - width));
    if (from + width > right) return;
    ctx.fillStyle = style;
    ctx.textAlign = "left";
    ctx.fillText(text, from, bbox.top - gap / 2);
    taken = from + width + gap;
  };
  write(wording.unitSymbol, 0, colour("soft"));
  if (now >= bbox.left && now <= right) write(wording.say("chart.legend.now"), now, colour("present"));
  ctx.restore();
}

/** @type {WeakMap<object, Span[]>} what has been worked out for a set of periods */
const known = new WeakMap();

/** Returns the nights and weekends; calendars are slow, and this is asked for with every move of the mouse. @param {Scene} scene */
export function nightsOf(scene) {
  const nights = known.get(scene.periods) ?? [...findNights(scene)];
  known.set(scene.periods, nights);
  return nights;
}

/** @param {Scene} scene @returns {Generator<Span>} */
function* findNights(scene) {
  let from = null;
  let last = 0;
  for (const ts of hoursOf(scene.periods)) {
    const isNight = scene.wording.isNightRate(ts);
    if (isNight && from === null) from = ts;
    if (!isNight && from !== null) {
      yield { from, to: ts };
      from = null;
    }
    last = ts + HOUR_S;
  }
  if (from !== null) yield { from, to: last };
}

/** Keeps what is drawn within the plot. @param {any} plot */
export function clip({ ctx, bbox }) {
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

/** @param {any} plot @param {Span} span @param {string} style */
function fill(plot, { from, to }, style) {
  const left = plot.valToPos(from, "x", true);
  const right = plot.valToPos(to, "x", true);
  plot.ctx.fillStyle = style;
  plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height);
}

/** Hatches a span: what is to be avoided is told from what is found by more than a colour. @param {any} plot @param {Span} span @param {string} style */
function hatch(plot, { from, to }, style) {
  const { ctx, bbox } = plot;
  const gap = 8 * (devicePixelRatio || 1);
  const left = plot.valToPos(from, "x", true);
  const right = plot.valToPos(to, "x", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (let x = Math.floor((left - bbox.height) / gap) * gap; x < right; x += gap) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.setLineDash([]);
  ctx.lineWidth = devicePixelRatio || 1;
  ctx.strokeStyle = style;
  ctx.stroke();
  ctx.restore();
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2
 * @param {string} style
 */
function line(ctx, x1, y1, x2, y2, style, width = 1) {
  const ratio = devicePixelRatio || 1;
  ctx.beginPath();
  ctx.setLineDash([]);
  ctx.lineWidth = width * ratio;
  ctx.strokeStyle = style;
  ctx.moveTo(Math.round(x1) + 0.5, y1);
  ctx.lineTo(Math.round(x2) + 0.5, y2);
  ctx.stroke();
}

const LINE_PX = 2;
const AREA_OPACITY = 0.75;

/** @param {any} plot @param {Scene} scene */
export function drawSettled(plot, scene) {
  const { ctx } = plot;
  const { min, max } = plot.scales.x;
  /** @type {Map<string, {area: Path2D, line: Path2D}>} */
  const paths = new Map();
  const x = (/** @type {number} */ ts) => plot.valToPos(ts, "x", true);
  const y = (/** @type {number} */ amount) => plot.valToPos(amount, "y", true);
  const zero = y(0);
  for (const { ts, settled } of scene.periods.values()) {
    if (settled === null || ts + scene.step <= min || ts >= max) continue;
    const tint = scene.wording.tint(settled);
    const path = paths.get(tint) ?? { area: new Path2D(), line: new Path2D() };
    paths.set(tint, path);
    const [left, right, top] = [x(ts), x(ts + scene.step), y(settled)];
    path.area.rect(left, zero, right - left, top - zero);
    // At the plot's edge nothing is seen of the step from the price before.
    const before = ts > min ? scene.periods.get(ts - scene.step)?.settled : null;
    path.line.moveTo(left, y(before ?? settled));
    path.line.lineTo(left, top);
    path.line.lineTo(right, top);
  }
  ctx.save();
  clip(plot);
  ctx.lineWidth = LINE_PX * devicePixelRatio;
  ctx.lineJoin = "round";
  for (const [tint, { area, line }] of paths) {
    ctx.fillStyle = colour(tint);
    ctx.strokeStyle = colour(`edge-${tint}`);
    ctx.globalAlpha = AREA_OPACITY;
    ctx.fill(area);
    ctx.globalAlpha = 1;
    ctx.stroke(line);
  }
  ctx.restore();
}
