// The form that finds the cheapest time.

import { choose, chosen } from "./address.js";
import { floorTo, HOUR_S, priceOf } from "./periods.js";
import { cheapestPeriods, cheapestPiece, meanPrice, pieces } from "./windows.js";

const USUAL_H = 3;
const LONGEST_H = 24;

export class Finder {
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} place where to say what is found
   * @param {number} step how long the periods are that a search begins and ends with
   * @param {(found: import("./backdrop.js").Span[]) => void} onFound
   */
  constructor(form, place, step, onFound) {
    this.form = form;
    this.place = place;
    this.onFound = onFound;
    /** @type {import("./backdrop.js").Scene | null} */
    this.scene = null;
    this.fields = /** @type {any} */ (form.elements);
    this.step = step;
    this.fields.hours.value = String(hoursFrom(chosen("hours"), step));
    this.fields.by.value = chosen("by");
    this.fields.split.value = chosen("split", "0");
    this.fields.predicted.checked = chosen("predicted", "1") === "1";
    form.addEventListener("input", () => this.change());
    // Once the reader is done with it, the field says what is looked for.
    form.addEventListener("change", () => this.tidy());
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  tidy() {
    this.fields.hours.value = String(hoursFrom(this.fields.hours.value, this.step));
  }

  change() {
    const { by, split, predicted } = this.fields;
    const hours = hoursFrom(this.fields.hours.value, this.step);
    choose({
      hours: hours === USUAL_H ? null : String(hours),
      by: by.value || null,
      split: split.value === "0" ? null : split.value,
      predicted: predicted.checked ? null : "0",
    });
    this.find();
  }

  /** Finds again after a change of the form or of the prices. */
  find() {
    if (!this.scene?.periods.size) return;
    const { now, periods, step, wording } = this.scene;
    const { by, split, predicted } = this.fields;
    this.count(step);
    const length = (hoursFrom(this.fields.hours.value, step) * HOUR_S) / step;
    const current = floorTo(now(), step);
    this.limitDeadline(current);
    const candidates = [...periods.values()]
      .filter(({ ts, settled }) => ts > current && (predicted.checked || settled !== null))
      .filter((period) => priceOf(period) !== null)
      .filter(({ ts }) => !by.value || wording.wall(ts + step) <= by.value)
      .map((period) => ({ ts: period.ts, price: /** @type {number} */ (priceOf(period)) }));
    const best = split.value === "1" ? cheapestPeriods(candidates, length) : cheapestPiece(candidates, length, step);
    this.onFound(best ? pieces(best, step) : []);
    this.say(best, current);
  }

  /** Counts in periods of another length from now on. @param {number} step */
  count(step) {
    this.fields.hours.step = this.fields.hours.min = String(step / HOUR_S);
    this.fields.by.step = String(step);
    if (step === this.step) return;
    this.step = step;
    this.tidy();
  }

  /** @param {number} current */
  limitDeadline(current) {
    const { periods, step, wording } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    this.fields.by.min = wording.wall(current + 2 * step);
    this.fields.by.max = wording.wall(Math.max(...periods.keys()) + step);
  }

  /** @param {import("./windows.js").Candidate[] | null} best @param {number} current */
  say(best, current) {
    const { wording, periods, step } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    this.place.replaceChildren();
    if (!best) {
      this.place.append(element("strong", wording.say("notFound")), element("p", wording.say("longer")));
      return;
    }
    /** @type {Map<string, string[]>} */
    const days = new Map();
    for (const piece of pieces(best, step)) {
      const day = wording.day(piece.from);
      days.set(day, [...(days.get(day) ?? []), wording.span(piece)]);
    }
    const lines = [...days].map(([day, spans]) => {
      const whole = spans.flatMap((span, i) => [i ? ", " : " ", element("span", span)]);
      return element("li", element("strong", day, ...whole));
    });
    const list = element("ul", ...lines);
    const facts = [wording.say("found", { price: wording.price(meanPrice(best)), unit: wording.unitSymbol })];
    const atOnce = best.map((_, i) => ({ ts: 0, price: priceOf(periods.get(current + i * step)) ?? NaN }));
    const saving = meanPrice(atOnce) - meanPrice(best);
    if (saving >= 0.005) facts.push(wording.say("saving", { saving: wording.price(saving), unit: wording.unitSymbol }));
    else if (Number.isFinite(saving)) facts.push(wording.say("dearer"));
    if (best.some(({ ts }) => periods.get(ts)?.settled === null)) facts.push(wording.say("usesForecast"));
    this.place.append(list, element("p", facts.join(" · ")));
  }
}

/** Reads how many hours are wanted: of whole periods, and as many as can be asked for. @param {string} text @param {number} step */
function hoursFrom(text, step) {
  const shortest = step / HOUR_S;
  const wanted = Math.round(Number(text) / shortest) * shortest;
  return text.trim() && Number.isFinite(wanted) ? Math.min(Math.max(wanted, shortest), LONGEST_H) : USUAL_H;
}

/** @param {string} name @param {...(string | Node)} content */
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}
