// Writes the tables of a comparison, and draws its bars by month.

import { totalOf } from "./contracts.js";

/** @typedef {import("./contracts.js").Bills} Bills */
/** @typedef {"spot" | "fixed" | "half" | "capped"} Contract */
/** @typedef {{name: string, months: Map<string, Bills>, quarters: Map<string, Bills>}} PackageBills  by the hour, and by the quarter since there are quarters */
/** @typedef {import("./compare.js").Writer} Writer */

/** @param {string} tag @param {(string | Node)[]} parts @param {string} name @returns {HTMLElement} */
function element(tag, parts, name = "") {
  const made = document.createElement(tag);
  made.append(...parts);
  if (name) made.className = name;
  return made;
}

/** @param {string} tag @param {string} scope @param {(string | Node)[]} parts */
function heading(tag, scope, parts) {
  const made = element(tag, parts);
  made.setAttribute("scope", scope);
  return made;
}

/** @param {string[]} names */
const head = (names) => element("thead", [element("tr", names.map((name) => heading("th", "col", [name])))]);

/** @param {number | null | undefined} euros @param {number} kwh @param {Writer} writer @param {string} name */
function sumCell(euros, kwh, { number, word }, name = "") {
  if (euros === null || euros === undefined) return element("td", ["–"]);
  const average = kwh ? element("small", [word("at", { price: number((100 * euros) / kwh, 2) })]) : "";
  return element("td", [`${number(euros, 2)} €`, average], name);
}

/** The bills of all months with each package. The least sum of each contract is marked. @param {PackageBills[]} packages @param {Contract[]} names @param {string} chosen @param {Writer} writer */
export function totalsTable(packages, names, chosen, writer) {
  const { word, number, data } = writer;
  const rows = packages.map(({ name, months, quarters }) => {
    const total = totalOf(months.values());
    const least = Math.min(...names.map((contract) => total[contract] ?? Infinity));
    const cells = names.map((contract) => sumCell(total[contract], total.kwh, writer, names.length > 1 && total[contract] === least ? "least" : ""));
    const quarterly = totalOf(quarters.values());
    const sameHours = totalOf([...months].filter(([month]) => quarters.has(month)).map(([, bills]) => bills));
    const quarter = quarters.size
      ? element("td", [`${number(quarterly.spot, 2)} €`, element("small", [word("insteadOf", { sum: number(sameHours.spot, 2) })])])
      : element("td", ["–"]);
    cells.splice(1, 0, quarter);
    return element("tr", [heading("th", "row", [data.packageNames[name]]), ...cells], name === chosen ? "chosen-row" : "");
  });
  const [spot, ...others] = names.map((name) => word(name));
  return [head([word("package"), spot, word("quarter"), ...others]), element("tbody", rows)];
}

/** The bills of each month with one package. @param {PackageBills} bills @param {Contract[]} names @param {Writer} writer */
export function monthsTable({ months, quarters }, names, writer) {
  const { word, number } = writer;
  /** @param {string} label @param {Bills} bills @param {number | undefined} quarter */
  const row = (label, bills, quarter) => {
    const cells = names.map((name) => sumCell(bills[name], bills.kwh, writer));
    cells.splice(1, 0, sumCell(quarter, 0, writer));
    return element("tr", [heading("th", "row", [label]), element("td", [number(bills.kwh, 0)]), ...cells]);
  };
  const body = [...months].map(([month, bills]) => row(month, bills, quarters.get(month)?.spot));
  const [spot, ...others] = names.map((name) => word(name));
  const total = row(word("all"), totalOf(months.values()), undefined);
  return [head([word("month"), word("kwh"), spot, word("quarter"), ...others]), element("tbody", body), element("tfoot", [total])];
}

/** All months with all packages, for a spreadsheet: columns apart by tabs. @param {PackageBills[]} packages @param {Contract[]} names @param {Writer} writer */
export function copiedTable(packages, names, { word, data }) {
  const written = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? "" : value.toFixed(2).replace(".", data.decimal));
  const titles = packages.flatMap(({ name }) => [word(names[0]), word("quarter"), ...names.slice(1).map((contract) => word(contract))].map((title) => `${data.packageNames[name]}: ${title}`));
  const lines = [...packages[0].months].map(([month, { kwh }]) => {
    const sums = packages.flatMap(({ months, quarters }) => {
      const [spot, ...others] = names.map((name) => months.get(month)?.[name]);
      return [spot, quarters.get(month)?.spot, ...others];
    });
    return [month, written(kwh), ...sums.map(written)];
  });
  return [[word("month"), word("kwh"), ...titles], ...lines].map((cells) => cells.join("\t")).join("\n");
}

const SVG = "http://www.w3.org/2000/svg";
const LABEL_PX = 64;
const DRAWN = /** @type {Contract[]} */ (["spot", "fixed", "capped"]);

/** @param {string} tag @param {Record<string, string | number>} attributes @param {(Node | string)[]} parts */
function shape(tag, attributes, parts = []) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...parts);
  return made;
}

/** A round step between the lines of the grid, so that there are at most five. @param {number} most */
function gridStep(most) {
  const power = 10 ** Math.floor(Math.log10(most / 5));
  return ([1, 2, 5].find((factor) => factor * power >= most / 5) ?? 10) * power;
}

/** Draws the bars of up to three contracts for each month. @param {HTMLElement} place @param {HTMLElement} legend @param {Map<string, Bills>} months @param {Contract[]} names @param {Writer} writer */
export function drawMonths(place, legend, months, names, { word, number }) {
  const drawn = DRAWN.filter((name) => names.includes(name));
  const most = Math.max(1, ...[...months.values()].flatMap((bills) => drawn.map((name) => bills[name] ?? 0)));
  const step = gridStep(most);
  const top = Math.ceil(most / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  const width = 1000 / months.size;
  const bars = [...months.values()].flatMap((bills, month) =>
    drawn.map((name, index) => {
      const height = (1000 * Math.max(0, bills[name] ?? 0)) / top;
      const bar = (0.8 * width) / drawn.length;
      return shape("rect", { class: `s${index}`, x: month * width + 0.1 * width + index * bar, y: 1000 - height, width: bar, height });
    }),
  );
  const grid = ticks.map((tick) => shape("path", { class: "gridline", d: `M0 ${1000 - (1000 * tick) / top}H1000` }));
  const axis = ticks.map((tick) => shape("text", { x: "100%", y: `${100 - (100 * tick) / top}%`, dy: "0.32em" }, [number(tick, step < 1 ? 1 : 0)]));
  const every = Math.ceil(months.size / Math.max(1, Math.floor((place.clientWidth || 600) / LABEL_PX)));
  const labels = [...months.keys()].flatMap((month, index) =>
    index % every ? [] : [shape("foreignObject", { x: `${(100 * index) / months.size}%`, width: `${(100 * Math.min(every, months.size - index)) / months.size}%`, height: "100%" }, [element("div", [month])])],
  );
  place.replaceChildren(
    shape("svg", { class: "area", viewBox: "0 0 1000 1000", preserveAspectRatio: "none" }, [...grid, ...bars]),
    shape("svg", { class: "prices" }, axis),
    shape("svg", { class: "days" }, labels),
  );
  legend.replaceChildren(...drawn.map((name, index) => element("li", [element("i", [], `s${index}`), `${word(name)}, €`])));
}
