// The legend: explains what is in view, and nothing else.

import { nightsOf } from "./backdrop.js";

/**
 * Shows an item of the legend where what it explains is in view.
 * @param {HTMLElement} card the section of the chart @param {import("./backdrop.js").Scene} scene
 * @param {{min: number, max: number}} range @param {boolean} showsPast whether forecasts of published prices are drawn, too
 */
export function explain(card, scene, { min, max }, showsPast) {
  const inView = [...scene.periods.values()].filter(({ ts }) => ts + scene.step > min && ts < max);
  const isInView = (/** @type {import("./backdrop.js").Span} */ { from, to }) => to > min && from < max;
  /** @type {Record<string, () => boolean>} */
  const isSeen = {
    settled: () => inView.some(({ settled }) => settled !== null),
    forecast: () => inView.some(({ settled, forecast }) => (showsPast || settled === null) && forecast !== null),
    found: () => scene.found.some(isInView),
    dearest: () => scene.dearest.some(isInView),
    night: () => nightsOf(scene).some(isInView),
  };
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-shows]"))) {
    const shows = isSeen[item.dataset.shows ?? ""];
    if (shows) item.hidden = !shows();
  }
}
