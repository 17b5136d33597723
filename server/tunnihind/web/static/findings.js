// What the finder says: the cheapest time, starting now and the dearest time side by side, each with what it costs.

/**
 * @typedef {{pieces: import("./backdrop.js").Span[], cost: import("./costs.js").Cost}} Finding
 * @typedef {{cheapest: Finding | null, atOnce: Finding | null, dearest: Finding | null}} Findings
 */

/**
 * @param {Findings} found
 * @param {number} kwh the energy that is used
 * @param {number} now
 * @param {import("./wording.js").Wording} wording
 */
export function findings({ cheapest, atOnce, dearest }, kwh, now, wording) {
  if (!cheapest) return [element("strong", wording.say("notFound")), element("p", wording.say("longer"))];
  const list = element("dl");
  list.append(group("cheapest", "finder.best", cheapest, ...(atOnce ? [saving(cheapest.cost, atOnce.cost, wording)] : [])));
  if (atOnce) list.append(group("at-once", "finder.now", atOnce));
  if (dearest) list.append(group("dearest", "finder.dearest", dearest));
  return [list];

  /** @param {string} name @param {string} title @param {Finding} finding @param {...string} more */
  function group(name, title, finding, ...more) {
    const lines = [...costs(finding.cost, kwh, wording), ...more].map((line) => element("dd", line));
    const made = element("div", element("dt", wording.say(title)), element("dd", times(finding, now, wording)), ...lines);
    made.className = name;
    return made;
  }
}

/** The pieces by day. @param {Finding} finding @param {number} now @param {import("./wording.js").Wording} wording */
function times({ pieces }, now, wording) {
  /** @type {Map<string, HTMLElement[]>} */
  const days = new Map();
  for (const piece of pieces) {
    const day = wording.dayFrom(piece.from, now);
    // A long one is broken before its last day, and nowhere else.
    const [from, to] = wording.spanOverDays(piece).split(" – ");
    const halves = to ? [element("span", `${from} –`), " ", element("span", to)] : [element("span", from)];
    days.set(day, [...(days.get(day) ?? []), element("li", element("strong", ...halves))]);
  }
  return list([...days].map(([day, spans]) => element("li", day, list(spans))));
}

/** A list, which is read aloud as one where it has more than one item. @param {HTMLElement[]} items */
function list(items) {
  const made = element("ul", ...items);
  if (items.length === 1) made.role = "none";
  return made;
}

/** @param {import("./costs.js").Cost} cost @param {number} kwh @param {import("./wording.js").Wording} wording */
function costs({ mean, range, isAllForecast, euros }, kwh, wording) {
  const about = (/** @type {number} */ amount) => wording.told(amount, range !== null);
  const price = wording.say("found", { price: about(mean), unit: wording.unitSymbol });
  // A range is not broken at its dash.
  const band = range && wording.band([range[0], mean, range[1]]).replace("–", "\u2060–\u2060");
  const likely = band && wording.say(isAllForecast ? "finder.forecast" : "finder.partly", { band });
  return [price, ...(likely ? [likely] : []), wording.say("finder.cost", { energy: wording.brief(kwh), euros: about(euros) })];
}

/**
 * What waiting saves: the difference of the sums as they are written, so that they agree.
 * @param {import("./costs.js").Cost} best @param {import("./costs.js").Cost} atOnce @param {import("./wording.js").Wording} wording
 */
function saving(best, atOnce, wording) {
  const written = (/** @type {number} */ amount) => wording.told(amount, best.range !== null || atOnce.range !== null);
  const euros = atOnce.euros - best.euros;
  if (euros >= 0.005) return wording.say("finder.saving", { euros: written(euros) });
  if (euros <= -0.005) return wording.say("finder.startNow", { euros: written(-euros) });
  const price = atOnce.mean - best.mean;
  if (price >= 0.005) return wording.say("finder.saving.price", { price: written(price), unit: wording.unitSymbol });
  return wording.say("finder.same");
}

/** @param {string} name @param {...(string | Node)} content */
export function element(name, ...content) {
  const made = document.createElement(name);
  made.append(...content);
  return made;
}
