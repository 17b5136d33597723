// What stands behind and before the chart's lines: nights, the window found, the present, the end of the forecast.

import { HOUR_S } from "./hours.js";

/**
 * @typedef {{
 *   hours: Map<number, import("./hours.js").Hour>, now: () => number, limit: number,
 *   found: {ts: number, hours: number}[], wording: import("./wording.js").Wording, pointed: number | null,
 * }} Scene
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
  for (const { ts, hours } of nightsOf(scene)) fill(plot, ts, hours, colour("night"));
  for (const { ts, hours } of scene.found) fill(plot, ts, hours, colour("window"));
  if (scene.pointed !== null) fill(plot, scene.pointed, 1, colour("grid"));
  const zero = plot.valToPos(0, "y", true);
  line(ctx, bbox.left, zero, bbox.left + bbox.width, zero, colour("limit"), []);
  ctx.restore();
}

/** Marks the present and the end of the public forecast. @param {any} plot @param {Scene} scene */
export function drawBefore(plot, scene) {
  const { ctx, bbox } = plot;
  ctx.save();
  clip(plot);
  const bottom = bbox.top + bbox.height;
  const limit = plot.valToPos(scene.limit, "x", true);
  line(ctx, limit, bbox.top, limit, bottom, colour("limit"), [5, 4]);
  const now = plot.valToPos(scene.now(), "x", true);
  line(ctx, now, bbox.top, now, bottom, colour("present"), [], 2);
  ctx.restore();
}

/** @type {WeakMap<object, {ts: number, hours: number}[]>} what has been worked out for a set of hours */
const known = new WeakMap();

/** Returns the nights and weekends; calendars are slow, and this is drawn with every move of the mouse. @param {Scene} scene */
function nightsOf(scene) {
  const nights = known.get(scene.hours) ?? [...findNights(scene)];
  known.set(scene.hours, nights);
  return nights;
}

/** @param {Scene} scene */
function* findNights(scene) {
  let start = null;
  let last = 0;
  for (const ts of scene.hours.keys()) {
    const isNight = scene.wording.isNightRate(ts);
    if (isNight && start === null) start = ts;
    if (!isNight && start !== null) {
      yield { ts: start, hours: (ts - start) / HOUR_S };
      start = null;
    }
    last = ts + HOUR_S;
  }
  if (start !== null) yield { ts: start, hours: (last - start) / HOUR_S };
}

/** @param {any} plot */
function clip({ ctx, bbox }) {
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

/** @param {any} plot @param {number} ts @param {number} hours @param {string} style */
function fill(plot, ts, hours, style) {
  const left = plot.valToPos(ts, "x", true);
  const right = plot.valToPos(ts + hours * HOUR_S, "x", true);
  plot.ctx.fillStyle = style;
  plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height);
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2
 * @param {string} style @param {number[]} dash
 */
function line(ctx, x1, y1, x2, y2, style, dash, width = 1) {
  const ratio = devicePixelRatio || 1;
  ctx.beginPath();
  ctx.setLineDash(dash.map((length) => length * ratio));
  ctx.lineWidth = width * ratio;
  ctx.strokeStyle = style;
  ctx.moveTo(Math.round(x1) + 0.5, y1);
  ctx.lineTo(Math.round(x2) + 0.5, y2);
  ctx.stroke();
}
