// The finder: a form that finds the cheapest and the most expensive time for a device.

import { choiceOr, rememberChoice, setChoices } from "./address.js";
import { bestStart } from "./chart.js";
import { DAY_S, floorTo, HOUR_S, priceOf, QUARTER_S } from "./periods.js";
import { findTimes } from "./windows.js";

const DEFAULT_HOURS = "3";
const DEFAULT_KW = "2";
const MOST_KW = 100;
const MOST_QUARTERS = DAY_S / QUARTER_S;

/**
 * @typedef {{hours: number, kw: number, kwh: number, isByEnergy: boolean}} DeviceUse
 *   the running time, the power and the energy of the device. `hours` is a multiple of 0.25. `isByEnergy` is true if
 *   the reader gave the energy instead of the time
 * @typedef {{refused: "hours" | "kw" | "kwh"}} Refused  the field with an impossible value
 */

const REFUSAL_TEXT_KEYS = { hours: "finder.refused.hours", kw: "finder.refused.kw", kwh: "finder.refused.kwh" };

/**
 * Reads the typed values. If the reader gave the energy, the time is computed from the energy and the power, and
 * rounded up to whole quarters.
 * @param {{hours: string, kw: string, kwh: string}} typed
 * @returns {DeviceUse | Refused}
 */
export function deviceUseOf(typed) {
  const [time, kw, energy] = [typed.hours, typed.kw, typed.kwh].map((text) => (text.trim() ? Number(text) : NaN));
  const isByEnergy = Boolean(typed.kwh.trim());
  if (!(kw > 0 && kw <= MOST_KW)) return { refused: "kw" };
  const perHour = HOUR_S / QUARTER_S;
  // The subtraction keeps a rounding error from adding a quarter.
  const quarters = isByEnergy ? Math.ceil((energy / kw) * perHour - 1e-9) : time * perHour;
  const isPossible = Number.isInteger(quarters) && quarters > 0 && quarters <= MOST_QUARTERS;
  if (!isPossible) return { refused: isByEnergy ? "kwh" : "hours" };
  const hours = quarters / perHour;
  return { hours, kw, kwh: isByEnergy ? energy : Number((hours * kw).toFixed(3)), isByEnergy };
}

/** The value of a choice in the address. If the value is missing, empty or not a finite number, returns `usual`. @param {string} name */
function numberChoiceOr(name, usual = "") {
  return Number.isFinite(Number(choiceOr(name) || NaN)) ? choiceOr(name) : usual;
}

const MORNING = "07:00";

/** The default choice of a deadline. `deadlineOf` explains the choices. */
const DEFAULT_DEADLINE = "24h";

/**
 * @typedef {{
 *   next: number, duration: number, ends: number[], wall: (ts: number) => string,
 * }} DeadlineLimits  the data from which `deadlineOf` finds a deadline. `next` is the earliest start. `duration` is the
 *   running time in seconds. `ends` lists the ends of the periods with a usable price, ascending. `wall` writes an
 *   instant by the reader's clock, as `2026-11-20T14:00`
 */

/**
 * Returns the instant of a chosen deadline, but at most the end of the last period with a usable price. If the choice
 * gives no instant after the earliest start, returns null. Otherwise, if no price is usable, returns the earliest
 * start.
 *
 * A choice is `24h` (24 hours from the earliest start, rounded up to a full hour), `morning` (the first 07:00 by which
 * the device can be done), `none` (no deadline), or an instant in unix seconds. In old addresses, a choice may be a
 * date and time by the reader's clock. Any other text means `24h`.
 * @param {string} choice @param {DeadlineLimits} limits
 * @returns {number | null}
 */
export function deadlineOf(choice, limits) {
  const { next, ends } = limits;
  const wanted = chosenInstant(choice, limits);
  if (wanted === undefined || wanted <= next) return null;
  return Math.min(wanted, ends[ends.length - 1] ?? next);
}

/** @param {string} choice @param {DeadlineLimits} limits */
function chosenInstant(choice, { next, duration, ends, wall }) {
  if (choice === "none") return Infinity;
  if (choice === "morning") return nextMorning(next + duration, wall);
  if (/^\d+$/.test(choice)) return Number(choice);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(choice)) return ends.findLast((end) => wall(end) <= choice);
  return Math.ceil((next + DAY_S) / HOUR_S) * HOUR_S;
}

/** The first 07:00 by the reader's clock at or after an instant. @param {number} from @param {(ts: number) => string} wall */
export function nextMorning(from, wall) {
  let ts = Math.ceil(from / QUARTER_S) * QUARTER_S;
  while (!wall(ts).endsWith(MORNING)) ts += QUARTER_S;
  return ts;
}

/** @typedef {{day: string, ts: number, ends: {ts: number, clock: string}[]}} Day  a day's possible deadlines; `ts` is an instant in the day */

/**
 * Groups the ends of periods by the periods' days in the reader's calendar. An end at midnight is written as 24:00.
 * @param {number[]} ends ascending @param {number} step the length of a period in seconds
 * @param {{wallTime: (ts: number) => string, timeOfDay: (ts: number) => string}} wording
 * @returns {Day[]}
 */
export function endsByDay(ends, step, wording) {
  /** @type {Day[]} */
  const days = [];
  for (const end of ends) {
    const day = wording.wallTime(end - step).slice(0, 10);
    if (days.at(-1)?.day !== day) days.push({ day, ts: end - step, ends: [] });
    const isMidnight = wording.wallTime(end).slice(0, 10) !== day;
    days[days.length - 1].ends.push({ ts: end, clock: isMidnight ? "24:00" : wording.timeOfDay(end) });
  }
  return days;
}

/** The day's first end at or after a clock time, or else the day's last end. @param {Day} day @param {string} clock */
export function endAtOrAfter(day, clock) {
  return (day.ends.find((end) => end.clock >= clock) ?? day.ends[day.ends.length - 1]).ts;
}

/** @typedef {import("./windows.js").Finding} Finding @typedef {import("./windows.js").Findings} Findings */

/**
 * @param {Findings} found
 * @param {number} kwh the energy used
 * @param {number} now
 * @param {import("./wording.js").Wording} wording
 */
export function findingElements({ cheapest, atOnce, mostExpensive }, kwh, now, wording) {
  if (!cheapest) return [element("strong", wording.say("notFound")), element("p", wording.say("longer"))];
  const list = element("dl");
  list.append(findingGroup("cheapest", "finder.best", cheapest, ...(atOnce ? [savingText(cheapest.cost, atOnce.cost, wording)] : [])));
  const isNowWorst = atOnce === mostExpensive;
  if (atOnce) list.append(findingGroup(isNowWorst ? "at-once dearest" : "at-once", isNowWorst ? "finder.nowWorst" : "finder.now", atOnce));
  if (mostExpensive && !isNowWorst) list.append(findingGroup("dearest", "finder.dearest", mostExpensive));
  return [list];

  /** @param {string} name @param {string} title @param {Finding} finding @param {...string} more */
  function findingGroup(name, title, finding, ...more) {
    const lines = [...costTexts(finding.cost, kwh, wording), ...more].map((line) => element("dd", line));
    const made = element("div", element("dt", wording.say(title)), element("dd", timesList(finding, now, wording)), ...lines);
    made.className = name;
    return made;
  }
}

/** Lists the times of the pieces by day. @param {Finding} finding @param {number} now @param {import("./wording.js").Wording} wording */
function timesList({ pieces }, now, wording) {
  /** @type {Map<string, HTMLElement[]>} */
  const days = new Map();
  for (const piece of pieces) {
    const day = wording.relativeDay(piece.from, now);
    // If a piece ends on another day, its text may wrap only after the dash.
    const [from, to] = wording.timesOverDays(piece, now).split(" – ");
    const halves = to ? [element("span", `${from} –`), " ", element("span", to)] : [element("span", from)];
    days.set(day, [...(days.get(day) ?? []), element("li", element("strong", ...halves))]);
  }
  return list([...days].map(([day, spans]) => element("li", day, list(spans))));
}

/** Makes a list. Screen readers don't announce a list of one item as a list. @param {HTMLElement[]} items */
function list(items) {
  const made = element("ul", ...items);
  if (items.length === 1) made.role = "none";
  return made;
}

/** @param {import("./windows.js").Cost} cost @param {number} kwh @param {import("./wording.js").Wording} wording */
function costTexts({ mean, range, isAllForecast, euros }, kwh, wording) {
  const price = wording.say("found", { price: wording.priceWithAbout(mean, range !== null), unit: wording.unitSymbol });
  // Word joiners keep a line from breaking at the range's dash.
  const band = range && wording.intervalText([range[0], mean, range[1]]).replace("–", "\u2060–\u2060");
  const likely = band && wording.say(isAllForecast ? "finder.forecast" : "finder.partly", { band });
  return [price, ...(likely ? [likely] : []), wording.say("finder.cost", { energy: wording.briefNumber(kwh), euros: wording.eurosText(euros, range !== null) })];
}

/**
 * Compares the cost of the cheapest time with the cost of starting now, in words.
 * @param {import("./windows.js").Cost} later @param {import("./windows.js").Cost} atOnce @param {import("./wording.js").Wording} wording
 */
function savingText(later, atOnce, wording) {
  const { best, saved } = comparedCosts(later, atOnce, wording);
  if (best === "either") return saved ? wording.say("finder.little", { saved }) : wording.say("finder.same");
  return wording.say(best === "later" ? "finder.saving" : "finder.startNow", { saved });
}

/**
 * Compares two costs. Their difference is computed from the rounded costs on the page, so that the figures agree. If the
 * rounded costs are equal, writes mean prices instead. If nothing is saved, and the start doesn't matter, `saved` is empty.
 * @param {import("./windows.js").Cost} later @param {import("./windows.js").Cost} atOnce @param {import("./wording.js").Wording} wording
 */
function comparedCosts(later, atOnce, wording) {
  const best = bestStart(atOnce.mean, later.mean, 0.01 / wording.eurosPerKwh);
  const isForecast = later.range !== null || atOnce.range !== null;
  const euros = Number((atOnce.euros - later.euros).toFixed(2));
  const amount = (/** @type {import("./windows.js").Cost} */ { mean, euros: cost, range }) =>
    euros || best === "either" ? eurosText(cost, range !== null) : priceText(mean, range !== null);
  const eurosText = (/** @type {number} */ value, /** @type {boolean} */ isAbout) => `${wording.eurosText(value, isAbout)}\u00a0€`;
  const priceText = (/** @type {number} */ value, /** @type {boolean} */ isAbout) => `${wording.priceWithAbout(value, isAbout)}\u00a0${wording.unitSymbol}`;
  const saved = best === "either" && euros <= 0 ? "" : euros ? eurosText(Math.abs(euros), isForecast) : priceText(Math.abs(atOnce.mean - later.mean), isForecast);
  return { best, saved, atOnce: amount(atOnce), later: amount(later) };
}

/**
 * Says whether to start a device now or later, in a sentence. If a price after an immediate start is unknown, the
 * sentence only names the later start. The server writes the same sentences for the usual device, in `start_advice.py`.
 * @param {Findings} found @param {DeviceUse} use @param {boolean} isSplit @param {number} now @param {import("./wording.js").Wording} wording
 */
export function startAdvice({ cheapest, atOnce }, { hours, kw }, isSplit, now, wording) {
  if (!cheapest) return "";
  const start = cheapest.pieces[0].from;
  const isToday = wording.relativeDay(start, now) === wording.say("days.today");
  const when = wording.say(isToday ? "start.when.today" : "start.when", { day: wording.dayInSentence(start, now), time: wording.timeOfDay(start) });
  const device = wording.say(isSplit ? "start.device.split" : "start.device", { hours, power: kw });
  const costs = comparedCosts(cheapest.cost, (atOnce ?? cheapest).cost, wording);
  const key = !atOnce ? "unknown" : costs.best === "either" && costs.saved ? "either.little" : costs.best;
  return wording.say(`start.${key}`, { when, device, ...costs });
}

/** @param {string} name @param {...(string | Node)} content */
export function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}

export class Finder {
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} resultsPlace
   * @param {import("./periods.js").Scene} scene the page's data
   * @param {(found: import("./periods.js").Span[], mostExpensive: import("./periods.js").Span[], advice: string) => void} onFound
   *   gets the times, and a sentence that advises when to start, or an empty text if no time is found
   */
  constructor(form, resultsPlace, scene, onFound) {
    this.form = form;
    this.resultsPlace = resultsPlace;
    this.onFound = onFound;
    this.scene = scene;
    this.fields = /** @type {any} */ (form.elements);
    this.deadline = choiceOr("by") || DEFAULT_DEADLINE;
    /** @type {Day[]} */
    this.days = [];
    /** The typed values. If the reader gave the time, `kwh` is empty. */
    this.typed = { hours: numberChoiceOr("hours", DEFAULT_HOURS), kw: numberChoiceOr("kw", DEFAULT_KW), kwh: numberChoiceOr("kwh") };
    this.updateFields();
    this.fields.split.value = choiceOr("split", "0");
    this.fields.predicted.checked = choiceOr("predicted", "1") === "1";
    form.addEventListener("input", (event) => this.onChange(/** @type {HTMLInputElement} */ (event.target)));
    form.addEventListener("click", (event) => this.onPress(/** @type {HTMLElement} */ (event.target)));
    // On a narrow screen, this button shows the form or hides it.
    this.formToggle = /** @type {HTMLElement} */ (form.parentElement?.querySelector("[data-asked]"));
    this.formToggle.addEventListener("click", () => {
      this.formToggle.setAttribute("aria-expanded", String(this.formToggle.getAttribute("aria-expanded") !== "true"));
    });
    // Screen readers announce results only while the focus is in the form. At other times, results would interrupt
    // other text.
    form.addEventListener("focusin", () => resultsPlace.setAttribute("aria-live", "polite"));
    form.addEventListener("focusout", () => resultsPlace.setAttribute("aria-live", "off"));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Updates the number fields except the field that the reader types into. Marks an impossible value. @param {HTMLInputElement} [typedInto] */
  updateFields(typedInto) {
    const asked = deviceUseOf(this.typed);
    for (const name of /** @type {const} */ (["hours", "kw", "kwh"])) {
      const field = this.fields[name];
      const value = "refused" in asked ? this.typed[name] : String(asked[name]);
      if (field !== typedInto && value) field.value = value;
      field.setAttribute("aria-invalid", String("refused" in asked && asked.refused === name));
    }
  }

  /** @param {HTMLInputElement} field the changed field, or the pressed button */
  onChange(field) {
    const { hours, kw, kwh, day, time, split, predicted } = this.fields;
    if (field === day) this.deadline = String(endAtOrAfter(this.days[day.selectedIndex], time.selectedOptions[0].text));
    if (field === time) this.deadline = time.value;
    if (field === hours) this.typed = { ...this.typed, hours: hours.value, kwh: "" };
    if (field === kw) this.typed.kw = kw.value;
    if (field === kwh) this.typed.kwh = kwh.value;
    const asked = deviceUseOf(this.typed);
    if (field === kw && !("refused" in asked)) {
      setChoices({ kw: kw.value });
      rememberChoice("kw", kw.value);
    }
    if (!("refused" in asked)) {
      setChoices({ hours: asked.isByEnergy || hours.value === DEFAULT_HOURS ? null : hours.value, kwh: this.typed.kwh || null });
    }
    setChoices({
      by: this.deadline === DEFAULT_DEADLINE ? null : this.deadline,
      split: split.value === "0" ? null : split.value,
      predicted: predicted.checked ? null : "0",
    });
    this.updateFields(field);
    this.find();
  }

  /** @param {HTMLElement} button */
  onPress(button) {
    if (!button.dataset.by) return;
    this.deadline = button.dataset.by;
    this.onChange(/** @type {any} */ (button));
  }

  /** Searches the prices from the next quarter on, and shows the results in words and in the chart. */
  find() {
    if (!this.scene.periods.size) return;
    const { now, step, wording } = this.scene;
    const asked = deviceUseOf(this.typed);
    if ("refused" in asked) {
      this.onFound([], [], "");
      this.showResults(element("strong", wording.say(REFUSAL_TEXT_KEYS[asked.refused])));
      return;
    }
    showCheapestHours(asked.hours);
    const duration = asked.hours * HOUR_S;
    const next = floorTo(now(), QUARTER_S) + QUARTER_S;
    const priced = this.pricedQuartersFrom(next);
    const ends = priced.map(({ ts }) => ts + QUARTER_S).filter((end) => end % step === 0);
    /** @type {DeadlineLimits} */
    const limits = { next, duration, ends, wall: (ts) => wording.wallTime(ts) };
    const wanted = deadlineOf(this.deadline, limits);
    const deadline = wanted ?? deadlineOf(DEFAULT_DEADLINE, limits) ?? next;
    this.offerDeadlines(asked, limits, deadline);
    const isSplit = this.fields.split.value === "1";
    const found = findTimes(this.scene, priced.filter(({ ts }) => ts + QUARTER_S <= deadline), asked, isSplit);
    this.onFound(found.cheapest?.pieces ?? [], found.mostExpensive?.pieces ?? [], startAdvice(found, asked, isSplit, now(), wording));
    // If there is no price ahead, not even a forecast, no change of the form can give a result.
    if (!priced.length && this.fields.predicted.checked) this.showResults(element("strong", wording.say("nothingAhead")));
    else this.showResults(...(wanted === null ? [element("p", wording.say("finder.passed"))] : []), ...findingElements(found, asked.kwh, now(), wording));
  }

  /** Shows the results. Unchanged results are not written again, because screen readers would read them again. @param {...HTMLElement} parts */
  showResults(...parts) {
    const said = element("output", ...parts);
    if (said.innerHTML !== this.resultsPlace.innerHTML) this.resultsPlace.replaceChildren(...said.childNodes);
  }

  /**
   * The quarters from `start` on with a usable price. Forecasts are usable only if the reader includes them. If the
   * page shows hours, each quarter has its hour's price.
   * @param {number} start
   */
  pricedQuartersFrom(start) {
    const { periods, step } = this.scene;
    const counts = (/** @type {import("./periods.js").Period} */ { settled }) => this.fields.predicted.checked || settled !== null;
    return [...periods.values()].filter(counts).flatMap((period) => {
      const price = priceOf(period);
      if (price === null || period.ts + step <= start) return [];
      return Array.from({ length: step / QUARTER_S }, (_, i) => ({ ts: period.ts + i * QUARTER_S, price })).filter(({ ts }) => ts >= start);
    });
  }

  /** Offers the possible deadlines, and shows the current one in the fields and on the buttons. @param {DeviceUse} asked @param {DeadlineLimits} limits @param {number} deadline */
  offerDeadlines({ hours, kw, kwh, isByEnergy }, limits, deadline) {
    const { day, time } = this.fields;
    const { now, step, wording } = this.scene;
    this.days = endsByDay(limits.ends, step, wording);
    const shown = this.days.findLast(({ ends }) => ends[0].ts <= deadline) ?? this.days[0];
    const end = shown?.ends.findLast(({ ts }) => ts <= deadline) ?? shown?.ends[0];
    fillSelect(day, this.days.map(({ day: value, ts }) => ({ value, text: wording.relativeDay(ts, now()) })), shown?.day);
    this.formToggle.textContent = wording.say(end ? "finder.asked" : "finder.asked.noEnd", {
      amount: isByEnergy ? wording.say("finder.energyOf", { n: kwh }) : wording.say("finder.lengthOf", { n: hours }), power: wording.briefNumber(kw),
      day: shown ? wording.dayInSentence(shown.ts, now()) : "",
      time: end?.clock ?? "",
    });
    fillSelect(time, (shown?.ends ?? []).map(({ ts, clock }) => ({ value: String(ts), text: clock })), String(end?.ts));
    for (const button of this.form.querySelectorAll("[data-by]")) {
      const { by } = /** @type {HTMLElement} */ (button).dataset;
      button.setAttribute("aria-pressed", String(by === this.deadline));
      if (by !== "morning") continue;
      const morning = nextMorning(limits.next + limits.duration, limits.wall);
      button.textContent = `${wording.relativeDay(morning, now())} ${wording.timeOfDay(morning)}`;
    }
  }
}

/** Shows what as many of each day's cheapest hours will cost as a device needs, at most 8. @param {number} hours */
function showCheapestHours(hours) {
  const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-cheapest-hours]"));
  const shown = Math.min(Math.ceil(hours), all.length);
  for (const one of all) one.hidden = one.dataset.cheapestHours !== String(shown);
}

/**
 * Offers choices, and selects one. A list that already has these choices is not rebuilt, because it may be open.
 * @param {HTMLSelectElement} field @param {{value: string, text: string}[]} choices @param {string | undefined} chosen
 */
function fillSelect(field, choices, chosen) {
  const offered = [...field.options].map(({ value, text }) => `${value} ${text}`).join();
  if (offered !== choices.map(({ value, text }) => `${value} ${text}`).join()) {
    field.replaceChildren(...choices.map(({ value, text }) => new Option(text, value)));
  }
  if (chosen !== undefined) field.value = chosen;
}
