// The parts of the page that the server renders: replaced from a fresh page, or moved to the next hour without one.

import { HOUR_S, priceOf } from "./hours.js";

/**
 * Takes over what differs on a fresh page. What has the keyboard's focus keeps it.
 * @param {Document} fresh
 */
export function takeOver(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(old.id);
    if (!next || next.isEqualNode(old)) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement?.id : "";
    old.replaceWith(document.adoptNode(next));
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

/**
 * Shows another hour as the present one, from what the page already holds; for when the server can't be asked.
 * @param {number} ts start of the hour
 * @param {import("./backdrop.js").Scene} scene
 */
export function showHour(ts, { hours, wording }) {
  const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-now]"));
  if (!card || card.dataset.now === String(ts)) return;
  card.dataset.now = String(ts);
  for (const marked of document.querySelectorAll(".current")) marked.classList.remove("current");
  for (const found of document.querySelectorAll(`[data-ts="${ts}"], [data-hour="${ts}"]`)) found.classList.add("current");
  // Levels are the server's to tell; the small view has no table to look them up in.
  const level = document.querySelector(`[data-hour="${ts}"]`)?.getAttribute("data-level");
  card.classList.remove("very_low", "low", "normal", "high", "very_high");
  if (level) card.classList.add(level);
  const hour = hours.get(ts);
  const written = (/** @type {number | null} */ price) => (price === null ? "–" : wording.price(price));
  const kind = priceOf(hour) === null ? "unknown" : hour?.settled === null ? "forecast" : "settled";
  write(card, "[data-now-span]", wording.span(ts));
  write(card, "[data-now-price]", written(priceOf(hour)));
  write(card, "[data-next-price]", written(priceOf(hours.get(ts + HOUR_S))));
  write(card, "[data-now-level]", level ? wording.say(`level.${level}`) : "");
  write(card, "[data-now-kind]", wording.say(kind));
}

/** @param {Element} card @param {string} selector @param {string} text */
function write(card, selector, text) {
  const place = card.querySelector(selector);
  if (place) place.textContent = text;
}
