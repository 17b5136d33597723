// The price now and the chart, kept up to date: what the dashboard and the small view have in common.

import { choose, chosen, nameServer } from "./address.js";
import { Chart, chartLibrary } from "./chart.js";
import { Feed } from "./feed.js";
import { countDown, showPeriod, takeOver } from "./live.js";
import { Moves } from "./moves.js";
import { floorTo, periodsOf } from "./periods.js";
import { explain, Readout, sayWeather, showWeather } from "./readout.js";
import { pageData, Wording } from "./wording.js";

/** @template {HTMLElement} E @param {string} selector @returns {E} */
const find = (selector) => /** @type {E} */ (document.querySelector(selector));

export const data = pageData(document);
/** @type {import("./scene.js").Scene} */
export const scene = {
  periods: new Map(), step: data.step, now: () => feed.now(), found: [], dearest: [], wording: new Wording(data), pointed: null,
};
/** @type {import("./periods.js").Prices | null} */
let prices = null;
/** @type {import("./periods.js").Forecast[]} the hours past those of the API, on a server of a home that shows them */
let beyond = data.beyond;
/** @type {Chart | null} */
let chart = null;
/** @type {Moves | null} */
let moves = null;
/** @type {Readout | null} */
let readout = null;

/** The section of the chart; a server that knows nothing yet leaves it out. */
const card = /** @type {HTMLElement | null} */ (document.querySelector(".chart"));
/** @type {() => void} what else of the page follows the prices */
let follow = () => {};

export const feed = new Feed({
  prices: (fresh) => {
    prices = fresh;
    showPrices();
  },
  page: (fresh) => {
    // A page with prices has other parts than one without.
    if (!fresh.querySelector(".chart") !== !card) {
      location.reload();
      return;
    }
    nameServer(fresh, data.address);
    takeOver(fresh);
    // Without the chart's library the server's drawing is the chart.
    if (card && !chart) find("[data-chart]").replaceChildren(...(fresh.querySelector("[data-chart]")?.childNodes ?? []));
    const freshData = pageData(fresh);
    scene.wording = new Wording(freshData);
    beyond = freshData.beyond;
    showPrices();
  },
  reachable: (since) => {
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-offline]"))) {
      place.hidden = since === null;
      const text = place instanceof HTMLSpanElement ? "offline.brief" : "offline";
      const said = since === null ? "" : scene.wording.say(text, { time: scene.wording.clock(since / 1000) });
      // What is written anew is read aloud anew.
      if (place.textContent !== said) place.textContent = said;
    }
  },
  period: () => {
    // Without prices, what the server has written knows more.
    if (!prices) return;
    showPeriod(floorTo(feed.now(), scene.step), scene);
    countDown(scene);
    chart?.plot.redraw(false, false);
    follow();
  },
});

/** Shows all of it, and keeps it up to date. @param {() => void} [onPrices] called whenever prices or the period have changed */
export function start(onPrices) {
  if (onPrices) follow = onPrices;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawChart);
  // Paper has another width, which nothing else hears of.
  matchMedia("print").addEventListener("change", () => chart?.fit());
  nameServer(document, data.address);
  feed.poll();
}

export function drawChart() {
  chart?.draw();
}

function showPrices() {
  if (!prices) return;
  const periods = periodsOf({ ...prices, forecast: [...prices.forecast, ...beyond] }, scene.wording.amount);
  if (!periods.size) {
    // Where nothing new has come for days, the newest prices are in the past.
    feed.awaitsPast();
    return;
  }
  scene.periods = periods;
  scene.step = prices.step;
  if (scene.pointed !== null) scene.pointed = floorTo(scene.pointed, scene.step);
  if (card && !chart) startChart(card);
  if (chart) {
    moves?.apply();
    chart.draw();
    readout?.say();
  }
  follow();
}

/** @param {HTMLElement} card */
function startChart(card) {
  if (!chartLibrary()) {
    for (const tool of document.querySelectorAll(".chart .needs-script")) tool.remove();
    return;
  }
  const place = find("[data-chart]");
  place.replaceChildren();
  chart = new Chart(place, scene, {
    pointed: (ts) => {
      readout?.say();
      sayWeather(ts, scene.wording);
    },
    moved: (range) => {
      explain(card, scene, range, Boolean(chart?.showsPast));
      readout?.float();
      showWeather(range);
    },
  });
  readout = new Readout(chart, card);
  const past = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-past]"));
  if (past) {
    past.checked = chart.showsPast = chosen("past", "0") === "1";
    past.addEventListener("change", () => {
      if (chart) chart.showsPast = past.checked;
      choose({ past: past.checked ? "1" : null });
      chart?.draw();
    });
  }
  moves = new Moves(chart, card, () => feed.awaitsPast());
  place.tabIndex = 0;
  place.setAttribute("role", "slider");
  place.addEventListener("focus", () => scene.pointed ?? moves?.step(0));
}
