// The dashboard: beside the price now and the chart it has a finder, options, a household's fees and code to copy.

import { choose, chosen, letCopy, remember, withChoices } from "./address.js";
import { Finder } from "./finder.js";
import { data, drawChart, feed, scene, start } from "./view.js";

/**
 * Shows the price of what is entered as soon as it is.
 * @param {() => void} onChange
 */
export function listenToHousehold(onChange) {
  // The form is replaced by those of fresh pages, so its events are awaited further up.
  for (const type of ["change", "submit"]) {
    document.addEventListener(type, (event) => {
      const form = /** @type {HTMLFormElement | null} */ (/** @type {Element} */ (event.target).closest("[data-household]"));
      if (!form) return;
      event.preventDefault();
      if (!form.reportValidity()) return;
      /** @type {Record<string, string>} */
      const entered = {};
      for (const field of /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (form.querySelectorAll("label select, label input"))) {
        entered[field.name] = field.value;
        if (field instanceof HTMLInputElement) field.defaultValue = field.value;
      }
      // Where there are packages, a margin alone is no household.
      const rates = "package" in entered ? entered.package : Object.values(entered).join("");
      entered.price = rates && "all";
      for (const [name, value] of Object.entries(entered)) remember(name, value);
      choose(Object.fromEntries(Object.entries(entered).map(([name, value]) => [name, value || null])));
      onChange();
    });
  }
}

/** A server that knows no prices yet leaves the form out. */
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-finder]"));
const place = /** @type {HTMLElement | null} */ (document.querySelector("[data-found]"));
const finder = form && place && new Finder(form, place, scene, (found, dearest) => {
  scene.found = found;
  scene.dearest = dearest;
  drawChart();
});

/** Changes an option without leaving the page. @param {MouseEvent} event */
function option(event) {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("a[data-option]"));
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  link.href = withChoices(link);
  if ("remember" in link.dataset) remember(link.dataset.option ?? "", link.dataset.remember ?? "");
  if (link.dataset.option === "lang") return;
  event.preventDefault();
  history.replaceState(null, "", link.href);
  const theme = chosen("theme", "auto");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  drawChart();
  feed.poll();
}

document.addEventListener("click", option);
listenToHousehold(() => feed.poll());
letCopy(data.texts);
start(() => finder?.find());
