// Updates the page from a fresh page, which is the same page requested again. Without a fresh page, shows the present
// price from the prices already received.

import { floorTo, HOUR_S, levelsOf, MINUTE_S, priceOf } from "./periods.js";

/**
 * Takes over the changed parts of a fresh page. If the focused element has an id, it keeps the focus. Each `details`
 * with an id stays as it is, open or closed. A field that has the focus stays as it is, because the reader may be typing.
 * @param {Document} fresh
 */
export function replaceChangedParts(fresh) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(old.id);
    if (!next) continue;
    for (const own of old.querySelectorAll("details[id]")) {
      next.querySelector(`#${own.id}`)?.toggleAttribute("open", own.hasAttribute("open"));
    }
    if (next.isEqualNode(old)) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement?.id : "";
    if (focused && next.querySelector(`#${focused}:is(input, select)`)) {
      renewAround(old, next, focused);
      continue;
    }
    // A live region has to stay in the page, because screen readers don't read a new live region.
    if (old.hasAttribute("role")) old.replaceChildren(...document.adoptNode(next).childNodes);
    else old.replaceWith(document.adoptNode(next));
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

/** Makes `old` equal to `next`, except the element with the id `kept`, which both contain. @param {Element} old @param {Element} next @param {string} kept */
function renewAround(old, next, kept) {
  if (old.id === kept) return;
  for (const name of old.getAttributeNames()) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const [oldHolder, nextHolder] = [old, next].map((parent) => /** @type {Element} */ ([...parent.children].find((child) => child.matches(`#${kept}, :has(#${kept})`))));
  for (const node of [...old.childNodes]) if (node !== oldHolder) node.remove();
  const nodes = [...next.childNodes];
  oldHolder.before(...nodes.slice(0, nodes.indexOf(nextHolder)));
  oldHolder.after(...nodes.slice(nodes.indexOf(nextHolder) + 1));
  renewAround(oldHolder, nextHolder, kept);
}

/**
 * Shows a period as the present period, from the prices already received. If the page shows the period already, nothing
 * changes.
 * @param {number} ts start of the period
 * @param {import("./periods.js").Scene} scene
 */
export function showPeriod(ts, scene) {
  const { periods, step, wording } = scene;
  const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-now]"));
  if (!card || card.dataset.now === String(ts)) return;
  // An outlook written on another day no longer holds.
  const day = (/** @type {number} */ instant) => wording.wallTime(instant).slice(0, 10);
  if (day(Number(card.dataset.now)) !== day(ts)) writeText(document.body, "#outlook", "");
  card.dataset.now = String(ts);
  for (const marked of document.querySelectorAll("[aria-current=time]")) marked.removeAttribute("aria-current");
  const hours = document.querySelectorAll(`[data-hour="${floorTo(ts, HOUR_S)}"]`);
  for (const present of [...hours, rowOf(ts, wording)]) present?.setAttribute("aria-current", "time");
  const level = levelsOf(scene).get(ts);
  const period = periods.get(ts);
  const price = priceOf(period);
  const word = price === null ? "" : wording.priceWord(price);
  card.className = `card now ${word && wording.tintClass(price ?? 0)}`.trim();
  const forecast = period?.settled === null ? period.forecast : null;
  writeText(card, "[data-now-span]", wording.timesText({ from: ts, to: ts + step }));
  writeText(card, "[data-now-about]", forecast ? wording.say("about", { price: "" }).trim() : "");
  writeText(card, "[data-now-price]", price === null ? "–" : forecast ? wording.forecastText(price) : wording.priceText(price));
  const next = periods.get(ts + step);
  const nextForecast = next?.settled === null ? next.forecast : null;
  const nextPrice = priceOf(next);
  writeText(card, "[data-next-price]", nextPrice === null ? "–" : wording.priceWithAbout(nextPrice, nextForecast !== null));
  writeText(card, "[data-next-band]", nextForecast ? `(${wording.intervalText(nextForecast)})` : "");
  card.querySelector("[data-next-start]")?.setAttribute("data-next-start", String(ts + step));
  writeText(card, "[data-now-level]", word);
  writeText(card, "[data-now-rank]", level ? wording.say("now.level", { level: wording.say(`level.${level}`) }) : "");
  const kind = forecast ? wording.say("now.forecast", { band: wording.intervalText(forecast) }) : "";
  writeText(card, "[data-now-kind]", price === null ? wording.say(`now.unknown.${step === HOUR_S ? "hour" : "quarter"}`) : kind);
  // The old sentence compares the cheapest time with an earlier start, so remove it. On the dashboard, the finder writes
  // a new one.
  writeText(card, "#next-cheap", "");
}

/** The row of a period in the table of all hours or quarters. @param {number} ts @param {import("./wording.js").Wording} wording */
function rowOf(ts, wording) {
  const ofDay = document.querySelectorAll(`#hours-table [data-day="${wording.wallTime(ts).slice(0, 10)}"] tr`);
  return [...ofDay].find(({ firstElementChild }) => firstElementChild?.textContent === wording.timeOfDay(ts));
}

/** @param {Element} card @param {string} selector @param {string} text */
function writeText(card, selector, text) {
  const place = card.querySelector(selector);
  if (place) place.textContent = text;
}

let timer = 0;

/** At once and then every minute, writes the minutes until the next period starts. @param {import("./periods.js").Scene} scene */
export function countDown(scene) {
  clearTimeout(timer);
  const place = /** @type {HTMLElement | null} */ (document.querySelector("[data-next-start]"));
  if (!place) return;
  const left = Number(place.dataset.nextStart) - scene.now();
  const minutes = Math.max(1, Math.ceil(left / MINUTE_S));
  place.textContent = scene.wording.say("startsIn", { n: minutes });
  timer = setTimeout(() => countDown(scene), (MINUTE_S - (scene.now() % MINUTE_S)) * 1000);
}
