// The form that finds the cheapest time, and the dearest one to stay out of.

import { choose, chosen, remember } from "./address.js";
import { costOf, partsOf } from "./costs.js";
import { deadlineOf, endsByDay, nextMorning, sameTime, USUAL } from "./deadlines.js";
import { element, findings } from "./findings.js";
import { floorTo, HOUR_S, priceOf, QUARTER_S } from "./periods.js";
import { cheapestAndDearest, pieces } from "./windows.js";

const HOURS = { usual: 3, most: 24 };
const KW = { usual: 2, least: 0.1, most: 100 };

export class Finder {
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} place where to say what is found
   * @param {number} step how long the periods are that a search begins and ends with
   * @param {(found: import("./backdrop.js").Span[], dearest: import("./backdrop.js").Span[]) => void} onFound
   */
  constructor(form, place, step, onFound) {
    this.form = form;
    this.place = place;
    this.onFound = onFound;
    /** @type {import("./backdrop.js").Scene | null} */
    this.scene = null;
    this.fields = /** @type {any} */ (form.elements);
    this.step = step;
    this.deadline = chosen("by") || USUAL;
    /** @type {import("./deadlines.js").Day[]} */
    this.days = [];
    this.fields.hours.value = String(hoursFrom(chosen("hours"), step));
    this.fields.kw.value = String(kilowattsFrom(chosen("kw")));
    this.fields.split.value = chosen("split", "0");
    this.fields.predicted.checked = chosen("predicted", "1") === "1";
    form.addEventListener("input", (event) => this.change(/** @type {HTMLInputElement} */ (event.target)));
    // Once the reader is done with it, the field says what is looked for.
    form.addEventListener("change", () => this.tidy());
    form.addEventListener("click", (event) => this.press(/** @type {HTMLElement} */ (event.target)));
    // On a phone the question is one line until it is to be changed.
    this.asked = /** @type {HTMLElement} */ (form.parentElement?.querySelector("[data-asked]"));
    this.asked.addEventListener("click", () => this.asked.setAttribute("aria-expanded", String(this.asked.ariaExpanded !== "true")));
    // What is found is read aloud to who is in the form, and not each time that a price arrives.
    form.addEventListener("focusin", () => place.setAttribute("aria-live", "polite"));
    form.addEventListener("focusout", () => place.setAttribute("aria-live", "off"));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  tidy() {
    this.fields.hours.value = String(hoursFrom(this.fields.hours.value, this.step));
    this.fields.kw.value = String(kilowattsFrom(this.fields.kw.value));
  }

  /** @param {HTMLInputElement} field the one that the reader has changed */
  change(field) {
    const { hours, kw, day, time, split, predicted } = this.fields;
    if (field === day) this.deadline = String(sameTime(this.days[day.selectedIndex], time.selectedOptions[0].text));
    if (field === time) this.deadline = time.value;
    const wanted = { hours: hoursFrom(hours.value, this.step), kw: kilowattsFrom(kw.value) };
    if (field === kw) {
      choose({ kw: String(wanted.kw) });
      remember("kw", String(wanted.kw));
    }
    choose({
      hours: wanted.hours === HOURS.usual ? null : String(wanted.hours),
      by: this.deadline === USUAL ? null : this.deadline,
      split: split.value === "0" ? null : split.value,
      predicted: predicted.checked ? null : "0",
    });
    this.find();
  }

  /** @param {HTMLElement} button */
  press(button) {
    if (!button.dataset.by) return;
    this.deadline = button.dataset.by;
    this.change(/** @type {any} */ (button));
  }

  /** Finds again after a change of the form or of the prices, or when another period has begun. */
  find() {
    if (!this.scene?.periods.size) return;
    const { now, periods, step, wording } = this.scene;
    this.count(step);
    const hours = hoursFrom(this.fields.hours.value, step);
    const kwh = hours * kilowattsFrom(this.fields.kw.value);
    const length = (hours * HOUR_S) / step;
    const current = floorTo(now(), step);
    const priced = this.pricedAfter(current);
    /** @type {import("./deadlines.js").Ahead} */
    const ahead = {
      next: current + step, duration: length * step, ends: priced.map(({ ts }) => ts + step), wall: (ts) => wording.wall(ts),
    };
    const asked = deadlineOf(this.deadline, ahead);
    const deadline = asked ?? deadlineOf(USUAL, ahead) ?? ahead.next;
    this.offer(ahead, deadline);
    const inTime = priced.filter(({ ts }) => ts + step <= deadline);
    const { cheapest, dearest } = cheapestAndDearest(inTime, length, step, this.fields.split.value === "1");
    const [best, worst] = [pieces(cheapest ?? [], step), pieces(dearest ?? [], step)];
    this.onFound(best, worst);
    const finding = (/** @type {import("./backdrop.js").Span[]} */ spans) => {
      const parts = spans.map(({ from, to }) => partsOf(periods, from, to - from, step));
      return spans.length && !parts.includes(null)
        ? { pieces: spans, cost: costOf(parts.flatMap((some) => some ?? []), kwh, wording.eurosPerKwh) }
        : null;
    };
    const start = floorTo(now(), QUARTER_S);
    const found = { cheapest: finding(best), atOnce: finding([{ from: start, to: start + length * step }]), dearest: finding(worst) };
    const said = document.createElement("output");
    said.append(...(asked === null ? [element("p", wording.say("finder.passed"))] : []), ...findings(found, kwh, now(), wording));
    // What is said anew is read aloud anew.
    if (said.innerHTML !== this.place.innerHTML) this.place.replaceChildren(...said.childNodes);
  }

  /** The periods after the present one whose price counts. @param {number} current */
  pricedAfter(current) {
    const { periods } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    const counts = (/** @type {import("./periods.js").Period} */ { ts, settled }) => ts > current && (this.fields.predicted.checked || settled !== null);
    return [...periods.values()].filter(counts).flatMap((period) => {
      const price = priceOf(period);
      return price === null ? [] : [{ ts: period.ts, price }];
    });
  }

  /** Counts in periods of another length from now on. @param {number} step */
  count(step) {
    this.fields.hours.step = this.fields.hours.min = String(step / HOUR_S);
    if (step === this.step) return;
    this.step = step;
    this.tidy();
  }

  /** Offers the deadlines that there are, and shows the one in force. @param {import("./deadlines.js").Ahead} ahead @param {number} deadline */
  offer(ahead, deadline) {
    const { day, time } = this.fields;
    const { now, wording } = /** @type {import("./backdrop.js").Scene} */ (this.scene);
    this.days = endsByDay(ahead.ends, this.step, wording);
    const shown = this.days.findLast(({ ends }) => ends[0].ts <= deadline) ?? this.days[0];
    const end = shown?.ends.findLast(({ ts }) => ts <= deadline) ?? shown?.ends[0];
    fill(day, this.days.map(({ day: value, ts }) => ({ value, text: wording.dayFrom(ts, now()) })), shown?.day);
    const name = shown && wording.dayFrom(shown.ts, now());
    this.asked.textContent = wording.say("finder.asked", {
      hours: wording.brief(ahead.duration / HOUR_S), power: wording.brief(kilowattsFrom(this.fields.kw.value)),
      // Today and tomorrow stand within a sentence here; days of the week keep their capital.
      day: name === wording.day(shown?.ts ?? 0) ? name : (name ?? "").toLowerCase(),
      time: shown?.ends.find(({ ts }) => ts === end?.ts)?.clock ?? "",
    });
    fill(time, (shown?.ends ?? []).map(({ ts, clock }) => ({ value: String(ts), text: clock })), String(end?.ts));
    for (const button of this.form.querySelectorAll("[data-by]")) {
      const { by } = /** @type {HTMLElement} */ (button).dataset;
      button.setAttribute("aria-pressed", String(by === this.deadline));
      if (by !== "morning") continue;
      const morning = nextMorning(ahead.next + ahead.duration, ahead.wall);
      button.textContent = `${wording.dayFrom(morning, now())} ${wording.clock(morning)}`;
    }
  }
}

/**
 * Offers choices, and leaves what is offered already as it is: a reader may have it open.
 * @param {HTMLSelectElement} field @param {{value: string, text: string}[]} choices @param {string | undefined} chosen
 */
function fill(field, choices, chosen) {
  const offered = [...field.options].map(({ value, text }) => `${value} ${text}`).join();
  if (offered !== choices.map(({ value, text }) => `${value} ${text}`).join()) {
    field.replaceChildren(...choices.map(({ value, text }) => new Option(text, value)));
  }
  if (chosen !== undefined) field.value = chosen;
}

/** Reads how many hours are wanted: of whole periods, and as many as can be asked for. @param {string} text @param {number} step */
export function hoursFrom(text, step) {
  const shortest = step / HOUR_S;
  const wanted = Math.round(Number(text) / shortest) * shortest;
  return text.trim() && Number.isFinite(wanted) ? Math.min(Math.max(wanted, shortest), HOURS.most) : HOURS.usual;
}

/** Reads a power: to a tenth of a kilowatt, and as much as can be asked for. @param {string} text */
export function kilowattsFrom(text) {
  const wanted = Math.round(Number(text) * 10) / 10;
  return text.trim() && Number.isFinite(wanted) ? Math.min(Math.max(wanted, KW.least), KW.most) : KW.usual;
}
