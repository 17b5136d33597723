// Reads a CSV file of a meter: finds the columns of times and of energy, and says in words what is odd about its rows.

import { HOUR_S, instantsOf, localText } from "./local_time.js";

const QUARTER_S = 900;
const KWH_OF = /** @type {Record<string, number>} */ ({ wh: 0.001, kwh: 1, mwh: 1000 });
const ISO = /^(\d{4})-(\d\d?)-(\d\d?)[T ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|[+-]\d\d:?(?:\d\d)?)?/;
const DAY_FIRST = /^(\d\d?)[./](\d\d?)[./](\d{4})[\sT,]+(\d\d?):(\d\d)(?::(\d\d))?/;
const NUMBER = /^([+\u2212-]?[\d\s.,]*\d)\s*([a-z]*)$/i;

/**
 * @typedef {{line: number, cells: string[]}} Row
 * @typedef {{names: string[], rows: Row[], skipped: number}} Table  `skipped` counts the lines before the header
 * @typedef {{key: string, line?: number, gaps: Record<string, string | number>}} Remark  the key of a text and its gaps
 */

/** Reads the bytes of a file as UTF-8 or UTF-16, or else as the Baltic code page of Windows. @param {ArrayBuffer} bytes */
export function textOf(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1257").decode(bytes);
  }
}

/** Splits a text into a table. The header is the line above the first row with a time and a number. @param {string} text @returns {Table} */
export function tableOf(text) {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  const separator = separatorOf(lines);
  const all = lines.map((line, index) => ({ line: index + 1, cells: cellsOf(line, separator) })).filter(({ cells }) => cells.some(Boolean));
  const first = all.findIndex(({ cells }) => cells.some((cell) => wallOf(cell)) && cells.some((cell) => numberOf(cell) && !wallOf(cell)));
  const rows = first < 0 ? [] : all.slice(first);
  const width = Math.max(0, ...rows.slice(0, 100).map(({ cells }) => cells.length));
  const header = first > 0 ? all[first - 1].cells : [];
  return { names: Array.from({ length: width }, (_, column) => header[column] ?? ""), rows, skipped: Math.max(0, first - 1) };
}

/** The semicolon or the tab, if lines with times have one, or else the comma. @param {string[]} lines */
function separatorOf(lines) {
  const timed = lines.filter((line) => /\d\d?:\d\d/.test(line)).slice(0, 100);
  return [";", "\t"].find((separator) => timed.filter((line) => line.includes(separator)).length > timed.length / 2) ?? ",";
}

/** @param {string} line @param {string} separator */
function cellsOf(line, separator) {
  if (!line.includes('"')) return line.split(separator).map((cell) => cell.trim());
  /** @type {string[]} */
  const cells = [];
  let [cell, isQuoted] = ["", false];
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      cells.push(cell.trim());
      cell = "";
    } else cell += character;
  }
  return [...cells, cell.trim()];
}

/**
 * The first column with times, and the first column of numbers whose name has kWh, or else the first of numbers. A
 * column that isn't there is -1.
 * @param {Table} table
 */
export function guessColumns({ names, rows }) {
  const sample = rows.slice(0, 200);
  const isMostly = (/** @type {number} */ column, /** @type {(cell: string) => unknown} */ test) =>
    sample.filter(({ cells }) => test(cells[column] ?? "")).length > sample.length / 2;
  const columns = names.map((_, column) => column);
  const time = columns.find((column) => isMostly(column, wallOf)) ?? -1;
  const numbers = columns.filter((column) => isMostly(column, (cell) => numberOf(cell) && !wallOf(cell)));
  const kwh = numbers.find((column) => /kwh/i.test(names[column])) ?? numbers[0] ?? -1;
  return { time, kwh };
}

/** Reads a time at the start of a cell, as seconds of the local clock, or with its zone. @param {string} cell @returns {{wall: number, offset: number | null} | null} */
function wallOf(cell) {
  const iso = ISO.exec(cell);
  const dayFirst = iso ? null : DAY_FIRST.exec(cell);
  const [year, month, day, hour, minute, second] = (iso?.slice(1, 7) ?? (dayFirst ? [dayFirst[3], dayFirst[2], ...dayFirst.slice(1, 2), ...dayFirst.slice(4, 7)] : [])).map((part) => Number(part ?? 0));
  if (year === undefined) return null;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // A date such as 31 February would become another day.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59) return null;
  return { wall: date.getTime() / 1000, offset: iso?.[7] ? offsetOf(iso[7]) : null };
}

/** @param {string} zone */
function offsetOf(zone) {
  if (zone === "Z") return 0;
  const seconds = Number(zone.slice(1, 3)) * HOUR_S + Number(zone.slice(3).replace(":", "") || 0) * 60;
  return zone[0] === "-" ? -seconds : seconds;
}

/** Reads a number with a decimal comma or point, and its unit if there is one. @param {string} cell @returns {{value: number, unit: string} | null} */
export function numberOf(cell) {
  const found = NUMBER.exec(cell.trim());
  if (!found) return null;
  const digits = found[1].replace(/\s/g, "").replace("\u2212", "-");
  const isComma = digits.lastIndexOf(",") > digits.lastIndexOf(".");
  const value = Number(isComma ? digits.replaceAll(".", "").replace(",", ".") : digits.replaceAll(",", ""));
  return Number.isFinite(value) ? { value, unit: found[2].toLowerCase() } : null;
}

/**
 * Reads the use from two columns of a table. Rows that can't be used are left out, and a remark names each.
 * @param {Table} table @param {number} timeColumn @param {number} kwhColumn
 * @returns {{use: import("./contracts.js").Use, remarks: Remark[]}}
 */
export function readUse({ names, rows }, timeColumn, kwhColumn) {
  /** @type {Remark[]} */
  const remarks = [];
  const unitOfColumn = /\b(k|m)?wh\b/i.exec(names[kwhColumn] ?? "")?.[0].toLowerCase() ?? "kwh";
  if (unitOfColumn !== "kwh") remarks.push({ key: "unit", gaps: { unit: unitOfColumn === "wh" ? "Wh" : "MWh" } });
  /** @type {Map<number, {kwh: number, line: number}>} */
  const found = new Map();
  for (const { line, cells } of rows) {
    const remark = (/** @type {string} */ key, gaps = {}) => remarks.push({ key, line, gaps: { n: line, ...gaps } });
    const [timeCell, cell] = [cells[timeColumn] ?? "", cells[kwhColumn] ?? ""];
    const time = wallOf(timeCell);
    if (!time) {
      remark("time", { text: timeCell });
      continue;
    }
    const instants = time.offset === null ? instantsOf(time.wall) : [time.wall - time.offset];
    if (!instants.length) {
      remark("skippedHour", { text: timeCell });
      continue;
    }
    const ts = instants.find((instant) => !found.has(instant));
    if (ts === undefined) {
      remark("twice", { text: timeCell, other: found.get(instants[instants.length - 1])?.line });
      continue;
    }
    if (instants.length > 1 && ts === instants[1] && time.wall % HOUR_S === 0) remark("repeatedHour", { text: timeCell });
    const number = cell === "" ? null : numberOf(cell);
    const factor = number && KWH_OF[number.unit || unitOfColumn];
    if (cell === "") remark("empty");
    else if (!number) remark("number", { text: cell });
    else if (!factor) remark("otherUnit", { text: cell });
    else if (number.value < 0) remark("negative", { text: cell });
    else found.set(ts, { kwh: number.value * factor, line });
  }
  return { use: orderedUse(found, remarks), remarks };
}

/**
 * Puts the rows in order of time, and names the gaps between them. A meter may have changed from hours to quarters. So a
 * row next to another row 15 minutes away is a quarter, and any other row is an hour, which four quarters share.
 * @param {Map<number, {kwh: number, line: number}>} found @param {Remark[]} remarks @returns {import("./contracts.js").Use}
 */
function orderedUse(found, remarks) {
  const starts = [...found.keys()].sort((one, other) => one - other);
  const step = starts.some((ts) => found.has(ts + QUARTER_S)) ? QUARTER_S : HOUR_S;
  const usual = usualDistance(starts);
  if (usual !== HOUR_S && usual !== QUARTER_S) {
    remarks.push({ key: "step", gaps: { minutes: usual / 60 } });
    return { entries: [], step };
  }
  /** @type {[number, number][]} */
  const entries = [];
  for (const ts of starts) {
    const { kwh, line } = /** @type {{kwh: number, line: number}} */ (found.get(ts));
    const length = found.has(ts + QUARTER_S) || found.has(ts - QUARTER_S) ? QUARTER_S : HOUR_S;
    if (ts % length) {
      remarks.push({ key: "offStep", line, gaps: { n: line, text: localText(ts) } });
      continue;
    }
    const end = entries.length ? entries[entries.length - 1][0] + step : ts;
    if (ts > end) remarks.push({ key: "gap", line, gaps: { n: line, from: localText(end), to: localText(ts), hours: (ts - end) / HOUR_S } });
    for (let part = ts; part < ts + length; part += step) entries.push([part, (kwh * step) / length]);
  }
  return { entries, step };
}

/** The most frequent distance between two rows, in seconds. @param {number[]} starts */
function usualDistance(starts) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let i = 1; i < starts.length; i++) {
    const distance = starts[i] - starts[i - 1];
    counts.set(distance, (counts.get(distance) ?? 0) + 1);
  }
  return [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0])[0]?.[0] ?? HOUR_S;
}
