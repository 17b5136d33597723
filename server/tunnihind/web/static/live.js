// The parts of the page that the server renders anew: taken over from a fresh page, or moved on by an hour without one.

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
 * @param {import("./wording.js").Wording} wording
 */
export function showHour(ts, wording) {
  const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-now]"));
  if (!card || card.dataset.now === String(ts)) return;
  card.dataset.now = String(ts);
  for (const marked of document.querySelectorAll(".current")) marked.classList.remove("current");
  for (const found of document.querySelectorAll(`[data-ts="${ts}"], [data-hour="${ts}"]`)) found.classList.add("current");
  const row = document.querySelector(`[data-hour="${ts}"]`);
  const next = document.querySelector(`[data-hour="${ts + 3600}"]`);
  const level = row?.getAttribute("data-level") ?? "middle";
  card.classList.remove("low", "middle", "high");
  card.classList.add(level);
  write(card, "[data-now-span]", wording.span(ts));
  write(card, "[data-now-price]", price(row));
  write(card, "[data-next-price]", price(next));
  write(card, "[data-now-level]", row ? wording.say(`level.${level}`) : "");
  write(card, "[data-now-kind]", row?.querySelector("td:last-child")?.textContent ?? wording.say("unknown"));
}

/** @param {Element | null} row */
function price(row) {
  return row?.querySelector("td")?.textContent ?? "–";
}

/** @param {Element} card @param {string} selector @param {string} text */
function write(card, selector, text) {
  const place = card.querySelector(selector);
  if (place) place.textContent = text;
}
