// Runs the comparison page: reads the reader's file or a typical year, fetches the market's prices, and shows the bills.
// The address holds the settings. The readings never leave the browser.

import { choiceOr, pageData, setChoices } from "./address.js";
import { compareContracts, CONTRACTS, inHours, ownPackage, timingOf, totalOf } from "./contracts.js";
import { localText, monthOf, monthsBetween, monthStart } from "./local_time.js";
import { guessColumns, readUse, tableOf, textOf } from "./meter_file.js";
import { fetchMonths } from "./month_prices.js";
import { copiedTable, drawMonths, monthsTable, totalsTable } from "./comparison_view.js";
import { PROFILES, typicalUse } from "./typical_use.js";

const MOST_REMARKS = 200;
const QUARTER_S = 900;

/**
 * @typedef {Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>>} Texts
 * @typedef {{lang: string, today: string, firstMonth: string, quartersSince: string, rates: import("./contracts.js").Rates, packageNames: Record<string, string>, decimal: string, texts: Texts}} PageData
 */
/** @type {PageData} */
const data = pageData(document);
const plurals = new Intl.PluralRules(data.lang);

/** @template {Element} [Found=HTMLElement] @param {string} selector @returns {Found} */
const find = (selector) => /** @type {Found} */ (document.querySelector(selector));

/** @param {number} value @param {number} decimals */
function number(value, decimals) {
  const [whole, ...rest] = value.toFixed(decimals).replace(/^-(0[.]?0*)$/, "$1").replace("-", "\u2212").split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, "\u00a0"), ...rest].join(data.decimal);
}

/** Returns a text with its gaps filled. @param {string} key @param {Record<string, string | number>} gaps */
function word(key, gaps = {}) {
  const said = data.texts[key];
  const text = typeof said === "string" ? said : (said[plurals.select(Number(gaps.n))] ?? "");
  return text.replace(/\{(\w+)\}/g, (_, name) => String(gaps[name]));
}

/** @typedef {{number: typeof number, word: typeof word, data: PageData}} Writer */
/** @type {Writer} */
const writer = { number, word, data };

const offerForm = /** @type {HTMLFormElement} */ (find("[data-offer]"));
const typicalForm = find("[data-typical]");

/** @type {import("./meter_file.js").Table | null} */
let table = null;
/** @type {import("./contracts.js").Use | null} the use by the hour, and since there are prices by the quarter */
let hours = null;
/** @type {import("./contracts.js").Use} */
let recent = { entries: [], step: QUARTER_S };
let running = new AbortController();
/** @type {Record<string, import("./contracts.js").Prices>} */
const prices = { "60m": { byStart: new Map(), step: 3600 }, "15m": { byStart: new Map(), step: QUARTER_S } };
const fetched = new Set();

/** @param {HTMLElement} form @param {string} name */
const field = (form, name) => /** @type {HTMLInputElement | HTMLSelectElement | null} */ (form.querySelector(`[name="${name}"]`));

/** The number in a field of the offer, or null if it is empty or invalid. @param {string} name @param {number} divisor */
function amountOf(name, divisor) {
  const input = field(offerForm, name);
  return !input?.value || !input.checkValidity() ? null : Number(input.value) / divisor;
}

/** @returns {import("./contracts.js").Offer} */
function offer() {
  return {
    margin: amountOf("margin", 100) ?? 0,
    spotMonthly: amountOf("monthly", 1) ?? 0,
    fixed: amountOf("fixed", 100),
    fixedMonthly: amountOf("fixedmonthly", 1) ?? 0,
    cap: amountOf("cap", 100),
    zeroBelow: /** @type {HTMLInputElement} */ (field(offerForm, "zero")).checked,
  };
}

const chosenPackage = () => field(offerForm, "package")?.value ?? "none";

const OWN_FIELDS = ["ownday", "ownnight", "ownfrom", "ownto", "ownfirst", "ownlast"];
const hasOwnRates = () => chosenPackage() === "own";
const hasOwnRatesOnRestDays = () => /** @type {HTMLInputElement} */ (field(offerForm, "ownrest")).checked;

/** The rates, with the reader's own ones if they are chosen. @returns {import("./contracts.js").Rates} */
function ratesNow() {
  const { rates } = data;
  if (!hasOwnRates()) return rates;
  const [starts, ends, first, last] = OWN_FIELDS.slice(2).map((name) => Number(field(offerForm, name)?.value));
  // The months may go on over the turn of the year.
  const months = Array.from({ length: 12 }, (_, n) => n + 1).filter((month) => (first <= last ? first <= month && month <= last : month >= first || month <= last));
  const onHolidays = hasOwnRatesOnRestDays();
  const times = { months, weekdays: onHolidays ? [0, 1, 2, 3, 4, 5, 6] : [0, 1, 2, 3, 4], starts, ends, onHolidays };
  const own = { day: amountOf("ownday", 100) ?? 0, night: amountOf("ownnight", 100) ?? 0, times };
  return { ...rates, packages: { ...rates.packages, own: ownPackage(rates, own) } };
}

/** Writes the settings into the address. @param {Record<string, string | null>} more */
function rememberSettings(more = {}) {
  const changes = /** @type {Record<string, string | null>} */ ({ ...more });
  for (const name of ["margin", "monthly", "fixed", "fixedmonthly", "cap"]) {
    const value = amountOf(name, 1);
    changes[name] = value === null || (value === 0 && !["fixed", "cap"].includes(name)) ? null : String(value);
  }
  for (const name of OWN_FIELDS) changes[name] = (hasOwnRates() && field(offerForm, name)?.value) || null;
  changes.ownrest = hasOwnRates() && hasOwnRatesOnRestDays() ? "1" : null;
  changes.zero = offer().zeroBelow ? "1" : null;
  changes.package = chosenPackage() === "none" ? null : chosenPackage();
  setChoices(changes);
}

function restoreSettings() {
  for (const name of ["margin", "monthly", "fixed", "fixedmonthly", "cap", "package", ...OWN_FIELDS]) {
    const input = field(offerForm, name);
    const value = choiceOr(name);
    const isChoice = !(input instanceof HTMLSelectElement) || [...input.options].some((option) => option.value === value);
    if (input && value && isChoice) input.value = value;
  }
  for (const name of ["zero", "ownrest"]) /** @type {HTMLInputElement} */ (field(offerForm, name)).checked = choiceOr(name) === "1";
  find("[data-own]").hidden = !hasOwnRates();
  const [yearly, profile] = [Number(choiceOr("yearly")), choiceOr("profile")];
  if (!(yearly > 0) || !(profile in PROFILES)) return;
  /** @type {HTMLInputElement} */ (field(typicalForm, "yearly")).value = String(yearly);
  /** @type {HTMLSelectElement} */ (field(typicalForm, "profile")).value = profile;
  useTypicalYear();
}

/** Takes a typical year of the last twelve whole months. */
function useTypicalYear() {
  const [yearly, profile] = ["yearly", "profile"].map((name) => field(typicalForm, name));
  if (!yearly?.reportValidity() || !profile) return;
  const month = data.today.slice(0, 7);
  table = null;
  find("[data-columns]").hidden = true;
  takeUse(typicalUse(profile.value, Number(yearly.value), monthStart(month, -12), monthStart(month)), []);
  rememberSettings({ yearly: yearly.value, profile: profile.value });
}

/** @param {File} file */
async function useFile(file) {
  table = tableOf(textOf(await file.arrayBuffer()));
  const guessed = guessColumns(table);
  for (const name of /** @type {("time" | "kwh")[]} */ (["time", "kwh"])) {
    const choice = /** @type {HTMLSelectElement} */ (find(`[data-columns] [name="${name}"]`));
    const missing = guessed[name] < 0 ? [new Option("–", "-1")] : [];
    const first = table.rows[0]?.cells ?? [];
    choice.replaceChildren(...missing, ...table.names.map((label, column) => new Option(`${label || column + 1}: ${first[column] ?? ""}`, String(column))));
    choice.value = String(guessed[name]);
  }
  find("[data-columns]").hidden = !table.names.length;
  setChoices({ yearly: null, profile: null });
  readColumns();
}

function readColumns() {
  if (!table) return;
  const [time, kwh] = ["time", "kwh"].map((name) => Number(/** @type {HTMLSelectElement} */ (find(`[data-columns] [name="${name}"]`)).value));
  if (time < 0 || kwh < 0) takeUse({ entries: [], step: 3600 }, [{ key: table.rows.length ? "noColumn" : "noRows", gaps: {} }]);
  else {
    const { use: found, remarks } = readUse(table, time, kwh);
    takeUse(found, table.skipped ? [{ key: "skipped", gaps: { n: table.skipped } }, ...remarks] : remarks);
  }
}

/** @param {import("./contracts.js").Use} found @param {import("./meter_file.js").Remark[]} remarks */
function takeUse(found, remarks) {
  hours = found.entries.length ? inHours(found) : null;
  const since = monthStart(data.quartersSince);
  recent = { ...found, entries: found.entries.filter(([ts]) => ts >= since) };
  const kwh = found.entries.reduce((sum, [, value]) => sum + value, 0);
  const last = found.entries.at(-1)?.[0] ?? 0;
  find("[data-read]").textContent = hours
    ? word(found.step === QUARTER_S ? "readQuarters" : "readHours", { kwh: number(kwh, 0), from: localText(found.entries[0][0]), to: localText(last + found.step) })
    : word("nothingRead");
  const place = find("[data-remarks]");
  place.hidden = !remarks.length;
  /** @type {HTMLDetailsElement} */ (place).open = remarks.length > 0 && remarks.length <= 5;
  find("[data-remarks] summary").textContent = word("remarks", { n: remarks.length });
  const shown = remarks.slice(0, MOST_REMARKS).map(({ key, gaps }) => word(key, { ...gaps, hours: number(Number(gaps.hours ?? 0), 2) }));
  if (remarks.length > MOST_REMARKS) shown.push(word("more", { n: remarks.length - MOST_REMARKS }));
  find("[data-remarks] ul").replaceChildren(...shown.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  run();
}

/** Fetches the prices that are missing, and shows the comparison. */
async function run() {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  find("[data-results]").hidden = true;
  show("problem", "");
  if (!hours) return;
  const wanted = monthsBetween(monthOf(hours.entries[0][0]), monthOf(hours.entries[hours.entries.length - 1][0])).filter((month) => month >= data.firstMonth && month <= data.today.slice(0, 7));
  const all = /** @type {[string, string][]} */ (wanted.flatMap((month) => (month < data.quartersSince ? [[month, "60m"]] : [[month, "60m"], [month, "15m"]])));
  const missing = all.filter((one) => !fetched.has(one.join()));
  let done = 0;
  const progress = () => {
    find("[data-progress] span").textContent = word("fetching", { done, all: missing.length });
    /** @type {HTMLProgressElement} */ (find("progress")).value = done / Math.max(1, missing.length);
  };
  find("[data-progress]").hidden = !missing.length;
  progress();
  try {
    await fetchMonths(missing, (found, month, resolution) => {
      for (const [ts, eurMwh] of found) prices[resolution].byStart.set(ts, eurMwh);
      fetched.add(`${month},${resolution}`);
      done += 1;
      progress();
    }, signal);
    if (!signal.aborted) showComparison();
  } catch (error) {
    if (!signal.aborted) show("problem", word("noAnswer", { what: error instanceof Error ? error.message : "" }));
  }
  if (!signal.aborted) find("[data-progress]").hidden = true;
}

/** @param {string} place @param {string} text */
function show(place, text) {
  find(`[data-${place}]`).textContent = text;
  find(`[data-${place}]`).hidden = !text;
}

/** Computes the bills with each package, by the hour and by the quarter. */
function showComparison() {
  if (!hours) return;
  const [terms, use, rates] = [offer(), hours, ratesNow()];
  const packages = Object.keys(rates.packages).map((name) => {
    const byHour = compareContracts(use, prices["60m"], rates, name, terms);
    const byQuarter = compareContracts(recent, prices["15m"], rates, name, terms);
    return { name, months: byHour.months, quarters: byQuarter.months, unpriced: byHour.unpriced };
  });
  const chosen = packages.find(({ name }) => name === chosenPackage()) ?? packages[0];
  const left = chosen.unpriced.length ? word("unpriced", { months: chosen.unpriced.join(", ") }) : "";
  show("problem", left);
  find("[data-results]").hidden = !chosen.months.size;
  if (!chosen.months.size) return;
  const total = totalOf(chosen.months.values());
  const counted = chosen.unpriced.length ? { ...use, entries: use.entries.filter(([ts]) => chosen.months.has(monthOf(ts))) } : use;
  showFigures(chosen.months, total, timingOf(counted, prices["60m"], rates, chosen.name, terms));
  const names = CONTRACTS.filter((name) => total[name] !== null);
  const months = [...chosen.months.keys()];
  find("[data-period]").textContent = word("period", { from: months[0], to: months[months.length - 1], n: months.length, kwh: number(total.kwh, 0), package: data.packageNames[chosen.name] });
  find("[data-totals]").replaceChildren(...totalsTable(packages, names, chosen.name, writer));
  find("[data-months]").replaceChildren(...monthsTable(chosen, names, writer));
  drawMonths(find("[data-chart]"), find("[data-legend]"), chosen.months, names, writer);
  find("[data-copy-table]").onclick = () => copy(copiedTable(packages, names, writer));
}

/** @param {Map<string, import("./contracts.js").Bills>} months @param {import("./contracts.js").Bills} total @param {{cheapestThird: number, saved: number}} timing */
function showFigures(months, total, timing) {
  const averages = [...months].filter(([, { kwh }]) => kwh > 0).map(([month, { spot, kwh }]) => ({ month, cents: (100 * spot) / kwh }));
  averages.sort((one, other) => one.cents - other.cents);
  const written = (/** @type {{month: string, cents: number}} */ { month, cents }) => [month, word("at", { price: number(cents, 2) })];
  const figures = [
    [number((100 * total.spot) / (total.kwh || 1), 2), word("average")],
    [`${number(100 * timing.cheapestThird, 0)}%`, word("cheapestThird")],
    [`${number(timing.saved, 2)} €`, word("moved")],
  ];
  if (averages.length > 1) {
    const [[least, leastAt], [most, mostAt]] = [averages[0], averages[averages.length - 1]].map(written);
    figures.push([least, `${word("cheapestMonth")} ${leastAt}`], [most, `${word("mostExpensiveMonth")} ${mostAt}`]);
  }
  find("[data-figures]").replaceChildren(...figures.map(([figure, text]) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("strong"), { textContent: figure }), ` ${text}`);
    return item;
  }));
}

/** Copies a text, or selects the table if the browser gives scripts no clipboard. @param {string} text */
async function copy(text) {
  const button = find("[data-copy-table]");
  if (!navigator.clipboard) {
    getSelection()?.selectAllChildren(find("[data-months]"));
    return;
  }
  await navigator.clipboard.writeText(text);
  const label = button.textContent;
  button.textContent = word("copied");
  setTimeout(() => (button.textContent = label), 2000);
}

const drop = find("[data-drop]");
const fileInput = /** @type {HTMLInputElement} */ (find("[data-file]"));
fileInput.addEventListener("change", () => fileInput.files?.[0] && useFile(fileInput.files[0]));
for (const type of ["dragover", "dragleave", "drop"]) {
  // A file that misses the place must not replace the page.
  document.addEventListener(type, (event) => {
    event.preventDefault();
    drop.classList.toggle("over-it", type === "dragover");
    const file = /** @type {DragEvent} */ (event).dataTransfer?.files[0];
    if (type === "drop" && file) useFile(file);
  });
}
find("[data-columns]").addEventListener("change", readColumns);
typicalForm.addEventListener("submit", (event) => {
  event.preventDefault();
  useTypicalYear();
});
offerForm.addEventListener("submit", (event) => event.preventDefault());
offerForm.addEventListener("change", () => {
  find("[data-own]").hidden = !hasOwnRates();
  if (!offerForm.reportValidity()) return;
  rememberSettings();
  run();
});
// The server made the links of the options before the reader chose anything, so they get the present settings.
document.addEventListener("click", (event) => {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("a[data-option]"));
  if (!link) return;
  const query = new URLSearchParams(location.search);
  const { option = "" } = link.dataset;
  const value = new URLSearchParams(link.search).get(option);
  if (value === null) query.delete(option);
  else query.set(option, value);
  link.search = query.toString();
});
restoreSettings();
