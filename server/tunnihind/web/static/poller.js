// While the page is visible, requests new data every minute and just after the start of each period. Reports whether
// the server can be reached.

import { choiceOr } from "./address.js";
import { HOUR_S } from "./periods.js";

const POLL_S = 60;
const AFTER_THE_PERIOD_S = 2;
const TIMEOUT_MS = 10_000;
const CLOCK_SET_MS = 60_000;

/**
 * `leastPastDays` is the number of past days to request until the chart needs earlier prices. For hours, the API gives
 * at least 2 days. In the last 45 minutes of a day with 25 hours, one past day doesn't reach today's first quarter, so
 * the chart then needs earlier prices.
 */
const HOUR_REQUEST = { url: "api/series", step: HOUR_S, leastPastDays: 2 };
const QUARTER_REQUEST = { url: "api/v1/quarters", step: HOUR_S / 4, leastPastDays: 1 };
export const MOST_PAST_DAYS = 14;

/**
 * @typedef {{
 *   onPrices: (prices: import("./periods.js").Prices) => void,
 *   onPage: (page: Document) => void,
 *   onReachable: (since: number | null) => void,
 *   onPollEnd: () => void,
 * }} Listener  `onReachable` gets null if the server answers, or else the time of its last answer (ms, device's clock)
 */

export class Poller {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.tags = { prices: "", page: "" };
    this.lastAnswerMs = Date.now();
    this.serverAheadMs = 0;
    this.steadyOffsetMs = steadyClockOffset();
    this.timer = 0;
    this.turn = 0;
    this.wantsPast = Boolean(choiceOr("span") || choiceOr("from"));
    this.hasPast = false;
    this.isAnswered = true;
    document.addEventListener("visibilitychange", () => !document.hidden && this.poll());
    window.addEventListener("online", () => this.poll());
  }

  /** The server's time, unix seconds. The server's clock may differ from this device's clock, or show a past day. */
  now() {
    return (Date.now() + this.serverAheadMs) / 1000;
  }

  /** From the first call on, requests the prices of the last 14 days. Returns true while they may still come. */
  requestPastPrices() {
    if (!this.wantsPast) {
      this.wantsPast = true;
      this.poll();
    }
    return !this.hasPast && this.isAnswered;
  }

  /** Requests new data, and sets the timer for the next request. */
  async poll() {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    const { wantsPast } = this;
    if (Math.abs(steadyClockOffset() - this.steadyOffsetMs) > CLOCK_SET_MS) {
      // The device has slept, or its clock was set, so `serverAheadMs` may be wrong.
      this.steadyOffsetMs = steadyClockOffset();
      this.tags.prices = "";
    }
    const { url, step, leastPastDays } = choiceOr("period") === "quarter" ? QUARTER_REQUEST : HOUR_REQUEST;
    // While no tag is known, the answer has to come from the server, because a cached answer may have an old `now`.
    const prices = await this.request("prices", `${url}?days=${wantsPast ? MOST_PAST_DAYS : leastPastDays}`, this.tags.prices ? "no-cache" : "reload", (text) => this.parsePrices(JSON.parse(text), step));
    // If `poll` was called again meanwhile, as after a change of an option, only the last call shows its answers.
    if (turn !== this.turn) return;
    this.isAnswered = prices !== null;
    if (prices) this.hasPast = wantsPast;
    if (prices?.news) this.listener.onPrices(prices.news);
    this.tags.prices = prices?.tag ?? this.tags.prices;
    const page = prices && (await this.request("page", `./${location.search}`, "no-cache", parsePage));
    if (turn !== this.turn) return;
    if (page?.news) this.listener.onPage(page.news);
    this.tags.page = page?.tag ?? this.tags.page;
    if (page) this.lastAnswerMs = Date.now();
    this.listener.onReachable(page ? null : this.lastAnswerMs);
    this.listener.onPollEnd();
    const toThePeriod = step - (this.now() % step) + AFTER_THE_PERIOD_S;
    this.timer = setTimeout(() => !document.hidden && this.poll(), Math.min(POLL_S, toThePeriod) * 1000);
  }

  /** Reads the prices in an answer, and updates the difference between the server's clock and this device's clock. Throws TypeError if `now`, the prices or the forecast is missing. @param {any} answer an answer with hours or quarters @param {number} step @returns {import("./periods.js").Prices} */
  parsePrices({ now, actuals, dayAhead, forecast }, step) {
    if (!(now > 0) || !Array.isArray(actuals ?? dayAhead) || !Array.isArray(forecast)) throw new TypeError("no prices");
    // An answer's `now` is never later than the server's present time, so the largest difference is the most exact.
    const aheadMs = now * 1000 - Date.now();
    this.serverAheadMs = this.tags.prices ? Math.max(this.serverAheadMs, aheadMs) : aheadMs;
    return { now, step, settled: actuals ?? dayAhead, forecast };
  }

  /**
   * Returns the answer's tag, and the content if the content is new. Returns null if there is no usable answer, for
   * example because a guest network answers with its sign-in page.
   * @template T
   * @param {"prices" | "page"} what @param {string} url @param {RequestCache} cache @param {(text: string) => T} read
   * @returns {Promise<{tag: string, news: T | null} | null>}
   */
  async request(what, url, cache, read) {
    try {
      const answer = await fetch(url, { cache, signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!answer.ok) return null;
      const etag = answer.headers.get("ETag");
      // Some proxies remove the tag. An answer without a tag counts as new.
      const tag = etag ? `${url} ${etag}` : "";
      return { tag, news: tag && tag === this.tags[what] ? null : read(await answer.text()) };
    } catch {
      return null;
    }
  }
}

/** The difference in ms between this device's clock and the page's steady clock, which can't be set. */
function steadyClockOffset() {
  return Date.now() - performance.now();
}

/** Parses a page. Throws TypeError if the text isn't a page of Tunnihind. @param {string} text */
function parsePage(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!page.getElementById("page-data")) throw new TypeError("no page of this server");
  return page;
}
