// The settled prices in the chart: steps in the colours of their levels, over an area that reaches down to zero.

import { clip, colour } from "./backdrop.js";
import { LEVELS, levelsOf } from "./levels.js";

const LINE_PX = 2.5;
const AREA_OPACITY = 0.3;

/** @param {any} plot @param {import("./backdrop.js").Scene} scene */
export function drawSettled(plot, scene) {
  const { ctx } = plot;
  const { min, max } = plot.scales.x;
  const levels = levelsOf(scene);
  const paths = new Map(LEVELS.map((level) => [level, { area: new Path2D(), line: new Path2D() }]));
  const x = (/** @type {number} */ ts) => plot.valToPos(ts, "x", true);
  const y = (/** @type {number} */ amount) => plot.valToPos(amount, "y", true);
  const zero = y(0);
  for (const { ts, settled } of scene.periods.values()) {
    const path = paths.get(levels.get(ts) ?? "");
    if (settled === null || !path || ts + scene.step < min || ts > max) continue;
    const [left, right, top] = [x(ts), x(ts + scene.step), y(settled)];
    path.area.rect(left, zero, right - left, top - zero);
    path.line.moveTo(left, y(scene.periods.get(ts - scene.step)?.settled ?? settled));
    path.line.lineTo(left, top);
    path.line.lineTo(right, top);
  }
  ctx.save();
  clip(plot);
  ctx.lineWidth = LINE_PX * devicePixelRatio;
  ctx.lineJoin = "round";
  for (const [level, { area, line }] of paths) {
    ctx.fillStyle = ctx.strokeStyle = colour(`level-${level.replace("_", "-")}`);
    ctx.globalAlpha = AREA_OPACITY;
    ctx.fill(area);
    ctx.globalAlpha = 1;
    ctx.stroke(line);
  }
  ctx.restore();
}
