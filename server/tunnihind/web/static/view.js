// Keeps the present price and the chart up to date, on the dashboard and in the small view.

import { choose, chosen, nameServer, pageData } from "./address.js";
import { Feed } from "./feed.js";
import { countDown, showPeriod, takeOver } from "./live.js";
import { PageChart } from "./moves.js";
import { floorTo, periodsOf } from "./periods.js";
import { explain, Readout, sayWeather, showWeather } from "./readout.js";
import { Wording } from "./wording.js";

/** @template {HTMLElement} E @param {string} selector @returns {E} */
const find = (selector) => /** @type {E} */ (document.querySelector(selector));

export const data = pageData(document);
/** @type {import("./periods.js").Scene} */
export const scene = {
  periods: new Map(), step: data.step, now: () => feed.now(), found: [], dearest: [], wording: new Wording(data),
};
/** @type {import("./periods.js").Prices | null} */
let prices = null;
/** @type {import("./periods.js").Forecast[]} the forecast for hours after the public window, if the page has any */
let beyond = data.beyond;
/** @type {PageChart | null} */
let chart = null;

/** The section of the chart; null if the page has no prices. */
const card = /** @type {HTMLElement | null} */ (document.querySelector(".chart"));
/** @type {() => void} the `onPrices` of `start` */
let follow = () => {};

export const feed = new Feed({
  prices: (fresh) => {
    prices = fresh;
    showPrices();
  },
  page: (fresh) => {
    // A page with prices has other parts than a page without prices.
    if (!fresh.querySelector(".chart") !== !card) {
      location.reload();
      return;
    }
    nameServer(fresh, data.address);
    takeOver(fresh);
    // Until this script draws a chart, the page shows the server's drawing, so update it.
    if (card && !chart) find("[data-chart]").replaceChildren(...(fresh.querySelector("[data-chart]")?.childNodes ?? []));
    const freshData = pageData(fresh);
    scene.wording = new Wording(freshData);
    beyond = freshData.beyond;
    showPrices();
  },
  reachable: (since) => {
    // Earlier prices can't come now, so the view moves back to the prices already received.
    if (since !== null) chart?.apply();
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-offline]"))) {
      place.hidden = since === null;
      const text = place instanceof HTMLSpanElement ? "offline.brief" : "offline";
      const said = since === null ? "" : scene.wording.say(text, { time: scene.wording.clock(since / 1000) });
      // Don't write the same text again, because screen readers would read it again.
      if (place.textContent !== said) place.textContent = said;
    }
  },
  period: () => {
    // Without prices, keep the text that the server wrote.
    if (!prices) return;
    showPeriod(floorTo(feed.now(), scene.step), scene);
    countDown(scene);
    chart?.redraw();
    follow();
  },
});

/** Shows the price and the chart, and keeps them up to date. @param {() => void} [onPrices] called after each request for data, if prices are known */
export function start(onPrices) {
  if (onPrices) follow = onPrices;
  // Paper has another width than the screen, and only this event reports the change.
  matchMedia("print").addEventListener("change", () => chart?.fit());
  nameServer(document, data.address);
  feed.poll();
}

export function drawChart() {
  chart?.show();
}

function showPrices() {
  if (!prices) return;
  const periods = periodsOf({ ...prices, forecast: [...prices.forecast, ...beyond] }, scene.wording.amount);
  if (!periods.size) {
    // If no new prices have come for days, only a request for all past prices finds any.
    feed.awaitsPast();
    return;
  }
  scene.periods = periods;
  scene.step = prices.step;
  if (card && !chart) startChart(card);
  drawChart();
  follow();
}

/** @param {HTMLElement} card */
function startChart(card) {
  const place = find("[data-chart]");
  /** @type {Readout} */
  let readout;
  const own = (chart = new PageChart(place, card, scene, () => feed.awaitsPast(), () => {
    readout.say();
    sayWeather(own.pointed, scene.wording);
    if (!own.scene) return;
    explain(card, own.scene);
    showWeather(own.view);
  }));
  readout = new Readout(own, card);
  const past = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-past]"));
  if (past) {
    past.checked = own.showsPast = chosen("past", "0") === "1";
    past.addEventListener("change", () => {
      own.showsPast = past.checked;
      choose({ past: past.checked ? "1" : null });
      own.show();
    });
  }
  place.tabIndex = 0;
  place.setAttribute("role", "slider");
  place.addEventListener("focus", () => own.pointed ?? own.step(0));
}
