// The strip of wind and sun under the chart: it shows the part of the time that the chart shows.

import { floorTo, HOUR_S } from "./periods.js";

/** What is said of each of the bands. @type {Record<string, string>} */
const OF_HOUR = { wind: "windOfHour", sun: "sunOfHour" };

/**
 * The part of a drawing that a range of time is in; a step to the right is an hour there. Both bands are 100 high, with
 * as much room above each for its words.
 * @param {number} start the drawing's first instant @param {{min: number, max: number}} range unix seconds
 */
export function viewBox(start, { min, max }) {
  return `${(min - start) / HOUR_S} 0 ${(max - min) / HOUR_S} 400`;
}

/** The strip, and what of it the server has drawn; null where no weather is known. */
function drawn() {
  const strip = document.getElementById("weather");
  const svg = strip?.querySelector("svg");
  return strip && svg ? { strip, svg, start: Number(svg.dataset.start) } : null;
}

/** Shows a range of time. @param {{min: number, max: number}} range */
export function showWeather(range) {
  const found = drawn();
  found?.svg.setAttribute("viewBox", viewBox(found.start, range));
}

/**
 * Says the wind and the sun of an hour, or how high the bands reach.
 * @param {number | null} ts @param {import("./wording.js").Wording} wording
 */
export function sayWeather(ts, wording) {
  const found = drawn();
  if (!found) return;
  for (const place of found.strip.querySelectorAll("[data-said]")) {
    const { said = "", scale = "" } = /** @type {HTMLElement} */ (place).dataset;
    const values = found.svg.dataset[said]?.split(",") ?? [];
    const value = ts === null ? "" : values[(floorTo(ts, HOUR_S) - found.start) / HOUR_S];
    place.textContent = value ? wording.say(OF_HOUR[said], { value }) : scale;
  }
}
