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
      const { value: pack } = /** @type {HTMLSelectElement} */ (form.elements.namedItem("package"));
      const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("margin"));
      const margin = (field.defaultValue = field.value);
      const entered = { package: pack, margin, price: pack && "all" };
      for (const [name, value] of Object.entries(entered)) remember(name, value);
      choose({ package: pack || null, margin: margin || null, price: entered.price || null });
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
