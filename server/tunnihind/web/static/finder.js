// The form that finds the cheapest time.

import { choose, chosen } from "./address.js";
import { floorHour, HOUR_S, priceOf } from "./hours.js";
import { cheapestHours, cheapestPiece, meanPrice, pieces } from "./windows.js";

const USUAL_H = 3;
const LONGEST_H = 24;

export class Finder {
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} place where to say what is found
   * @param {(found: {ts: number, hours: number}[]) => void} onFound
   */
  constructor(form, place, onFound) {
    this.form = form;
    this.place = place;
    this.onFound = onFound;
    /** @type {import("./backdrop.js").Scene | null} */
    this.scene = null;
    this.fields = /** @type {any} */ (form.elements);
    this.fields.hours.value = String(hoursFrom(chosen("hours")));
    this.fields.by.value = chosen("by");
    this.fields.split.value = chosen("split", "0");
    this.fields.predicted.checked = chosen("predicted", "1") === "1";
    form.addEventListener("input", () => this.change());
    // Once the reader is done with it, the field says what is looked for.
    form.addEventListener("change", () => (this.fields.hours.value = String(hoursFrom(this.fields.hours.value))));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  change() {
    const { by, split, predicted } = this.fields;
    const hours = hoursFrom(this.fields.hours.value);
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
    if (!this.scene?.hours.size) return;
    const { now, hours, wording } = this.scene;
    const { by, split, predicted } = this.fields;
    const length = hoursFrom(this.fields.hours.value);
    const current = floorHour(now());
    this.limitDeadline(current);
    const candidates = [...hours.values()]
      .filter((hour) => hour.ts > current && (predicted.checked || hour.settled !== null) && priceOf(hour) !== null)
      .filter((hour) => !by.value || wording.wall(hour.ts + HOUR_S) <= by.value)
      .map((hour) => ({ ts: hour.ts, price: /** @type {number} */ (priceOf(hour)) }));
    const best = split.value === "1" ? cheapestHours(candidates, length) : cheapestPiece(candidates, length);
    this.onFound(best ? pieces(best) : []);
    this.say(best, current);
  }

  /** @param {number} current */
  limitDeadline(current) {
    const { hours, wording } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    this.fields.by.min = wording.wall(current + 2 * HOUR_S);
    this.fields.by.max = wording.wall(Math.max(...hours.keys()) + HOUR_S);
  }

  /** @param {import("./windows.js").Candidate[] | null} best @param {number} current */
  say(best, current) {
    const { wording, hours } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    this.place.replaceChildren();
    if (!best) {
      this.place.append(element("strong", wording.say("notFound")), element("p", wording.say("longer")));
      return;
    }
    const list = element("ul");
    for (const piece of pieces(best)) {
      list.append(element("li", element("strong", `${wording.day(piece.ts)} ${wording.span(piece.ts, piece.hours)}`)));
    }
    const facts = [wording.say("found", { price: wording.price(meanPrice(best)), unit: wording.unitSymbol })];
    const atOnce = best.map((_, i) => ({ ts: 0, price: priceOf(hours.get(current + i * HOUR_S)) ?? NaN }));
    const saving = meanPrice(atOnce) - meanPrice(best);
    if (saving >= 0.005) facts.push(wording.say("saving", { saving: wording.price(saving), unit: wording.unitSymbol }));
    else if (Number.isFinite(saving)) facts.push(wording.say("dearer"));
    if (best.some(({ ts }) => hours.get(ts)?.settled === null)) facts.push(wording.say("usesForecast"));
    this.place.append(list, element("p", facts.join(" · ")));
  }
}

/** Reads how many hours are wanted: whole ones, and as many as can be asked for. @param {string} text */
function hoursFrom(text) {
  const wanted = Math.round(Number(text));
  return text.trim() && Number.isFinite(wanted) ? Math.min(Math.max(wanted, 1), LONGEST_H) : USUAL_H;
}

/** @param {string} name @param {...(string | Node)} content */
function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}
