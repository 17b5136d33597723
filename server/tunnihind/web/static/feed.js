// Keeps the page up to date: asks once a minute and just after each full hour, and tells when the server is gone.

import { HOUR_S } from "./hours.js";

const POLL_S = 60;
const AFTER_THE_HOUR_S = 2;
const PATIENCE_MS = 10_000;

/**
 * @typedef {{
 *   series: (series: import("./hours.js").Series) => void,
 *   page: (page: Document) => void,
 *   reachable: (since: number | null) => void,
 *   hour: () => void,
 * }} Listener  `reachable` gets null, or since when (by this device's clock, in ms) the server has been gone
 */

export class Feed {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.tags = { series: "", page: "" };
    this.lastHeard = Date.now();
    this.aheadMs = -Infinity;
    this.timer = 0;
    this.turn = 0;
    document.addEventListener("visibilitychange", () => !document.hidden && this.poll());
    window.addEventListener("online", () => this.poll());
  }

  /** The server's time, unix seconds: its clock may be another one than this device's, or rehearse another day. */
  now() {
    return (Date.now() + (Number.isFinite(this.aheadMs) ? this.aheadMs : 0)) / 1000;
  }

  /** Asks for what is new, and again in a minute. */
  async poll() {
    clearTimeout(this.timer);
    const turn = ++this.turn;
    // What a cache holds may tell a `now` of some time ago, so the first time it has to come from the server.
    const series = await this.changed("series", "api/series", this.tags.series ? "no-cache" : "reload");
    if (series) this.listener.series(this.read(JSON.parse(series)));
    const page = series === null ? null : await this.changed("page", `./${location.search}`, "no-cache");
    // If the reader has changed an option meanwhile, this page is not the wanted one.
    if (page && turn === this.turn) this.listener.page(new DOMParser().parseFromString(page, "text/html"));
    if (page !== null) this.lastHeard = Date.now();
    this.listener.reachable(page === null ? this.lastHeard : null);
    this.listener.hour();
    const toTheHour = HOUR_S - (this.now() % HOUR_S) + AFTER_THE_HOUR_S;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => !document.hidden && this.poll(), Math.min(POLL_S, toTheHour) * 1000);
  }

  /** @param {import("./hours.js").Series} series */
  read(series) {
    // An answer is never younger than its `now`: the greatest difference is the nearest to the truth.
    this.aheadMs = Math.max(this.aheadMs, series.now * 1000 - Date.now());
    return series;
  }

  /**
   * Returns what is new, "" where nothing is, and null without an answer.
   * @param {"series" | "page"} what @param {string} url @param {RequestCache} cache
   */
  async changed(what, url, cache) {
    try {
      const answer = await fetch(url, { cache, signal: AbortSignal.timeout(PATIENCE_MS) });
      if (!answer.ok) return null;
      const tag = `${url} ${answer.headers.get("ETag")}`;
      if (tag === this.tags[what]) return "";
      const news = await answer.text();
      this.tags[what] = tag;
      return news;
    } catch {
      return null;
    }
  }
}
