// Keeps the page up to date: asks once a minute and just after each full period, and reports a lost server.

import { chosen } from "./address.js";
import { HOUR_S } from "./periods.js";

const POLL_S = 60;
const AFTER_THE_PERIOD_S = 2;
const PATIENCE_MS = 10_000;
const CLOCK_SET_MS = 60_000;

/**
 * `recent` is the number of days back that covers today; hours have no smaller number. The last hour of the longest day
 * would need one more day; then the page asks for all of the past.
 */
const HOURS = { url: "api/series", step: HOUR_S, recent: 2 };
const QUARTERS = { url: "api/v1/quarters", step: HOUR_S / 4, recent: 1 };
const ALL_DAYS = 14;

/**
 * @typedef {{
 *   prices: (prices: import("./periods.js").Prices) => void,
 *   page: (page: Document) => void,
 *   reachable: (since: number | null) => void,
 *   period: () => void,
 * }} Listener  `reachable` gets null, or the time (this device's clock, in ms) since which the server has been gone
 */

export class Feed {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.tags = { prices: "", page: "" };
    this.lastHeard = Date.now();
    this.aheadMs = 0;
    this.steadyMs = fromSteadyClock();
    this.timer = 0;
    this.turn = 0;
    this.wantsPast = Boolean(chosen("span") || chosen("from"));
    this.hasPast = false;
    this.isAnswered = true;
    document.addEventListener("visibilitychange", () => !document.hidden && this.poll());
    window.addEventListener("online", () => this.poll());
  }

  /** The server's time, unix seconds: its clock may differ from this device's, or replay another day. */
  now() {
    return (Date.now() + this.aheadMs) / 1000;
  }

  /**
   * Asks for all of the past, which most visits never look at. Returns whether it will come soon; false while the server
   * can't be reached.
   */
  awaitsPast() {
    if (!this.wantsPast) {
      this.wantsPast = true;
      this.poll();
    }
    return !this.hasPast && this.isAnswered;
  }

  /** Asks for news, and again in a minute. */
  async poll() {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    const { wantsPast } = this;
    if (Math.abs(fromSteadyClock() - this.steadyMs) > CLOCK_SET_MS) {
      // The device has slept, or its clock was set: the known difference is no longer valid.
      this.steadyMs = fromSteadyClock();
      this.tags.prices = "";
    }
    const { url, step, recent } = chosen("period") === "quarter" ? QUARTERS : HOURS;
    // A cached answer may have an old `now`, so the first answer has to come from the server.
    const prices = await this.ask("prices", `${url}?days=${wantsPast ? ALL_DAYS : recent}`, this.tags.prices ? "no-cache" : "reload", (text) => this.read(JSON.parse(text), step));
    // If the reader has changed an option meanwhile, a later turn asks with the new options.
    if (turn !== this.turn) return;
    this.isAnswered = prices !== null;
    if (prices) this.hasPast = wantsPast;
    if (prices?.news) this.listener.prices(prices.news);
    this.tags.prices = prices?.tag ?? this.tags.prices;
    const page = prices && (await this.ask("page", `./${location.search}`, "no-cache", pageFrom));
    if (turn !== this.turn) return;
    if (page?.news) this.listener.page(page.news);
    this.tags.page = page?.tag ?? this.tags.page;
    if (page) this.lastHeard = Date.now();
    this.listener.reachable(page ? null : this.lastHeard);
    this.listener.period();
    const toThePeriod = step - (this.now() % step) + AFTER_THE_PERIOD_S;
    this.timer = setTimeout(() => !document.hidden && this.poll(), Math.min(POLL_S, toThePeriod) * 1000);
  }

  /** Reads an answer. Throws if it has no prices. @param {any} answer a series of hours, or quarters @param {number} step @returns {import("./periods.js").Prices} */
  read({ now, actuals, dayAhead, forecast }, step) {
    if (!(now > 0) || !Array.isArray(actuals ?? dayAhead) || !Array.isArray(forecast)) throw new TypeError("no prices");
    // An answer is never younger than its `now`, so the largest difference is closest to the truth.
    const aheadMs = now * 1000 - Date.now();
    this.aheadMs = this.tags.prices ? Math.max(this.aheadMs, aheadMs) : aheadMs;
    return { now, step, settled: actuals ?? dayAhead, forecast };
  }

  /**
   * Returns the news, or null for none, and the tag of the answer. Returns null without a readable answer; the sign-in
   * page of a guest network, for example, isn't readable.
   * @template T
   * @param {"prices" | "page"} what @param {string} url @param {RequestCache} cache @param {(text: string) => T} read
   * @returns {Promise<{tag: string, news: T | null} | null>}
   */
  async ask(what, url, cache, read) {
    try {
      const answer = await fetch(url, { cache, signal: AbortSignal.timeout(PATIENCE_MS) });
      if (!answer.ok) return null;
      const etag = answer.headers.get("ETag");
      // Some proxies remove the tag: then each answer may be new.
      const tag = etag ? `${url} ${etag}` : "";
      return { tag, news: tag && tag === this.tags[what] ? null : read(await answer.text()) };
    } catch {
      return null;
    }
  }
}

/** Ms from the clock that counts since the page opened to this device's clock, which can be set. */
function fromSteadyClock() {
  return Date.now() - performance.now();
}

/** Parses a page. Throws if it isn't this server's. @param {string} text */
function pageFrom(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!page.getElementById("page-data")) throw new TypeError("no page of this server");
  return page;
}
