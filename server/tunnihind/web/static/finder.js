// The form that finds the cheapest time, and the dearest one to stay out of.

import { choose, chosen, remember } from "./address.js";
import { askedFor } from "./asked.js";
import { costOf, partsOf } from "./costs.js";
import { deadlineOf, endsByDay, nextMorning, sameTime, USUAL } from "./deadlines.js";
import { element, findings } from "./findings.js";
import { floorTo, HOUR_S, priceOf, QUARTER_S } from "./periods.js";
import { cheapestAndDearest, pieces } from "./windows.js";

export class Finder {
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} place where to say what is found
   * @param {import("./backdrop.js").Scene} scene its periods begin and end a search
   * @param {(found: import("./backdrop.js").Span[], dearest: import("./backdrop.js").Span[]) => void} onFound
   */
  constructor(form, place, scene, onFound) {
    this.form = form;
    this.place = place;
    this.onFound = onFound;
    this.scene = scene;
    this.fields = /** @type {any} */ (form.elements);
    this.step = scene.step;
    this.deadline = chosen("by") || USUAL;
    /** @type {import("./deadlines.js").Day[]} */
    this.days = [];
    /** What is typed; an energy is empty where the time is asked for. */
    this.typed = { hours: chosen("hours"), kw: chosen("kw"), kwh: chosen("kwh") };
    this.tidy();
    this.fields.split.value = chosen("split", "0");
    this.fields.predicted.checked = chosen("predicted", "1") === "1";
    form.addEventListener("input", (event) => this.change(/** @type {HTMLInputElement} */ (event.target)));
    // Once the reader is done with it, the field says what is looked for.
    form.addEventListener("change", () => this.tidy());
    form.addEventListener("click", (event) => this.press(/** @type {HTMLElement} */ (event.target)));
    // On a phone the question is one line until it is to be changed.
    this.question = /** @type {HTMLElement} */ (form.parentElement?.querySelector("[data-asked]"));
    this.question.addEventListener("click", () => {
      this.question.setAttribute("aria-expanded", String(this.question.getAttribute("aria-expanded") !== "true"));
    });
    // What is found is read aloud to who is in the form, and not each time that a price arrives.
    form.addEventListener("focusin", () => place.setAttribute("aria-live", "polite"));
    form.addEventListener("focusout", () => place.setAttribute("aria-live", "off"));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** What is asked for. */
  asked() {
    return askedFor(this.typed, this.step);
  }

  /** Writes what is asked for into the fields; the one that is being typed into is left alone. @param {HTMLInputElement} [typedInto] */
  tidy(typedInto) {
    const asked = this.asked();
    for (const name of /** @type {const} */ (["hours", "kw", "kwh"])) {
      if (this.fields[name] !== typedInto) this.fields[name].value = String(asked[name]);
    }
  }

  /** @param {HTMLInputElement} field the one that the reader has changed */
  change(field) {
    const { hours, kw, kwh, day, time, split, predicted } = this.fields;
    if (field === day) this.deadline = String(sameTime(this.days[day.selectedIndex], time.selectedOptions[0].text));
    if (field === time) this.deadline = time.value;
    if (field === hours) this.typed = { ...this.typed, hours: hours.value, kwh: "" };
    if (field === kw) this.typed.kw = kw.value;
    if (field === kwh) this.typed.kwh = kwh.value;
    const asked = this.asked();
    if (field === kw) {
      choose({ kw: String(asked.kw) });
      remember("kw", String(asked.kw));
    }
    choose({
      hours: asked.isByEnergy || asked.isUsualTime ? null : String(asked.hours),
      kwh: asked.isByEnergy ? String(asked.kwh) : null,
      by: this.deadline === USUAL ? null : this.deadline,
      split: split.value === "0" ? null : split.value,
      predicted: predicted.checked ? null : "0",
    });
    this.tidy(field);
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
    if (!this.scene.periods.size) return;
    const { now, periods, step, wording } = this.scene;
    this.count(step);
    const { hours, kwh } = this.asked();
    const length = (hours * HOUR_S) / step;
    const current = floorTo(now(), step);
    const priced = this.pricedAfter(current);
    /** @type {import("./deadlines.js").Ahead} */
    const ahead = {
      next: current + step, duration: length * step, ends: priced.map(({ ts }) => ts + step), wall: (ts) => wording.wall(ts),
    };
    const wanted = deadlineOf(this.deadline, ahead);
    const deadline = wanted ?? deadlineOf(USUAL, ahead) ?? ahead.next;
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
    if (!priced.length && this.fields.predicted.checked) {
      // No other wish would find anything.
      said.append(element("strong", wording.say("nothingAhead")));
    } else {
      said.append(...(wanted === null ? [element("p", wording.say("finder.passed"))] : []), ...findings(found, kwh, now(), wording));
    }
    // What is said anew is read aloud anew.
    if (said.innerHTML !== this.place.innerHTML) this.place.replaceChildren(...said.childNodes);
  }

  /** The periods after the present one whose price counts. @param {number} current */
  pricedAfter(current) {
    const { periods } = this.scene;
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
    const { now, wording } = this.scene;
    this.days = endsByDay(ahead.ends, this.step, wording);
    const shown = this.days.findLast(({ ends }) => ends[0].ts <= deadline) ?? this.days[0];
    const end = shown?.ends.findLast(({ ts }) => ts <= deadline) ?? shown?.ends[0];
    fill(day, this.days.map(({ day: value, ts }) => ({ value, text: wording.dayFrom(ts, now()) })), shown?.day);
    const name = shown && wording.dayFrom(shown.ts, now());
    const { hours, kw, kwh, isByEnergy } = this.asked();
    this.question.textContent = wording.say(end ? "finder.asked" : "finder.asked.noEnd", {
      amount: isByEnergy ? `${wording.brief(kwh)}\u00a0kWh` : `${wording.brief(hours)}\u00a0h`, power: wording.brief(kw),
      // Today and tomorrow stand within a sentence here; days of the week keep their capital.
      day: name === wording.day(shown?.ts ?? 0) ? name : (name ?? "").toLowerCase(),
      time: end?.clock ?? "",
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
