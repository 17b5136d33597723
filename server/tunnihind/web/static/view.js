// Keeps the present price and the chart up to date, on the dashboard and in the small view.

import { choiceOr, pageData, setChoices, showServerAddress } from "./address.js";
import { Poller } from "./poller.js";
import { countDown, replaceChangedParts, showPeriod } from "./live.js";
import { PageChart } from "./moves.js";
import { floorTo, periodsOf } from "./periods.js";
import { Readout, showLegend, showWeather, writeWeather } from "./readout.js";
import { Wording } from "./wording.js";

/** @template {HTMLElement} E @param {string} selector @returns {E} */
const elementAt = (selector) => /** @type {E} */ (document.querySelector(selector));

export const data = pageData(document);
/** @type {import("./periods.js").Scene} */
export const scene = {
  periods: new Map(), step: data.step, now: () => poller.now(), found: [], mostExpensive: [], wording: new Wording(data),
};
/** @type {import("./periods.js").Prices | null} */
let prices = null;
/** @type {import("./periods.js").Forecast[]} the page's forecast for hours after the public window; may be empty */
let forecastBeyondWindow = data.beyond;
/** @type {PageChart | null} */
let chart = null;

/** The section of the chart; null if the page has no prices. */
const card = /** @type {HTMLElement | null} */ (document.querySelector(".chart"));
/** @type {() => void} the function that `startView` got */
let onUpdate = () => {};

export const poller = new Poller({
  onPrices: (fresh) => {
    prices = fresh;
    showPrices();
  },
  onPage: (fresh) => {
    // A page with prices has other parts than a page without prices.
    if (!fresh.querySelector(".chart") !== !card) {
      location.reload();
      return;
    }
    showServerAddress(fresh, data.address);
    replaceChangedParts(fresh);
    // Until this script draws a chart, the page shows the server's drawing, so update it.
    if (card && !chart) elementAt("[data-chart]").replaceChildren(...(fresh.querySelector("[data-chart]")?.childNodes ?? []));
    const freshData = pageData(fresh);
    scene.wording = new Wording(freshData);
    forecastBeyondWindow = freshData.beyond;
    showPrices();
  },
  onReachable: (since) => {
    // If the server doesn't answer, no earlier prices can come. So a view that begins before the first known price moves
    // to the known prices.
    if (since !== null) chart?.applyView();
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-offline]"))) {
      place.hidden = since === null;
      const text = place instanceof HTMLSpanElement ? "offline.brief" : "offline";
      const said = since === null ? "" : scene.wording.say(text, { time: scene.wording.timeOfDay(since / 1000) });
      // Don't write the same text again, because screen readers would read it again.
      if (place.textContent !== said) place.textContent = said;
    }
  },
  onPollEnd: () => {
    // Without prices, keep the text that the server wrote.
    if (!prices) return;
    showPeriod(floorTo(poller.now(), scene.step), scene);
    countDown(scene);
    chart?.redraw();
    onUpdate();
  },
});

/** Shows the price and the chart, and keeps them up to date. @param {() => void} [listener] called after each request for data, if prices are known */
export function startView(listener) {
  if (listener) onUpdate = listener;
  // Paper has another width than the screen, and only this event reports the change.
  matchMedia("print").addEventListener("change", () => chart?.fit());
  showServerAddress(document, data.address);
  poller.poll();
}

export function drawChart() {
  chart?.drawData();
}

function showPrices() {
  if (!prices) return;
  const periods = periodsOf({ ...prices, forecast: [...prices.forecast, ...forecastBeyondWindow] }, scene.wording.amount);
  if (!periods.size) {
    // If no new prices have come for days, only a request for the last 14 days finds any.
    poller.requestPastPrices();
    return;
  }
  scene.periods = periods;
  scene.step = prices.step;
  if (card && !chart) startChart(card);
  drawChart();
  onUpdate();
}

/** @param {HTMLElement} card */
function startChart(card) {
  const place = elementAt("[data-chart]");
  /** @type {Readout} */
  let readout;
  const own = (chart = new PageChart(place, card, scene, () => poller.requestPastPrices(), () => {
    readout.update();
    writeWeather(own.pointed, scene.wording);
    if (!own.scene) return;
    showLegend(card, own.scene);
    showWeather(own.view);
  }));
  readout = new Readout(own, card);
  const past = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-past]"));
  if (past) {
    past.checked = own.showsPast = choiceOr("past", "0") === "1";
    past.addEventListener("change", () => {
      own.showsPast = past.checked;
      setChoices({ past: past.checked ? "1" : null });
      own.drawData();
    });
  }
  place.tabIndex = 0;
  place.setAttribute("role", "slider");
  place.addEventListener("focus", () => own.pointed ?? own.step(0));
}
