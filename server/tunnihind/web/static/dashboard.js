// Starts the dashboard: the present price, the chart, the finder, options, a household's fees and code to copy.

import { choiceOfLink, choiceOr, enableCopyButtons, rememberChoice, restoreOnBack, setChoicesUndoably } from "./address.js";
import { Finder } from "./finder.js";
import { data, drawChart, poller, scene, startView } from "./view.js";

/**
 * When the reader changes or submits the household form with valid values, remembers these values and writes them into
 * the address.
 * @param {() => void} onChange called after the values have been written
 */
function watchHouseholdForm(onChange) {
  // A fresh page replaces the form, so the listener belongs to the document.
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
      // In a zone with packages, a margin alone is not enough for a household price.
      const rates = "package" in entered ? entered.package : Object.values(entered).join("");
      entered.price = rates && "all";
      for (const [name, value] of Object.entries(entered)) rememberChoice(name, value);
      setChoicesUndoably(Object.fromEntries(Object.entries(entered).map(([name, value]) => [name, value || null])), Object.keys(entered));
      onChange();
    });
  }
}

/** The finder's form; null if the page has no prices. */
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-finder]"));
const resultsPlace = /** @type {HTMLElement | null} */ (document.querySelector("[data-found]"));
const finder = form && resultsPlace && new Finder(form, resultsPlace, scene, (found, mostExpensive) => {
  scene.found = found;
  scene.mostExpensive = mostExpensive;
  drawChart();
});

/** Applies the option of a clicked link. Only a new language reloads the page. @param {MouseEvent} event */
function applyOption(event) {
  const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("a[data-option]"));
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { option = "" } = link.dataset;
  const isRemembered = "remember" in link.dataset;
  if (isRemembered) rememberChoice(option, link.dataset.remember ?? "");
  setChoicesUndoably(choiceOfLink(link), isRemembered ? [option] : []);
  if (option === "lang") {
    location.reload();
    return;
  }
  const theme = choiceOr("theme", "auto");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  poller.poll();
}

document.addEventListener("click", applyOption);
restoreOnBack();
watchHouseholdForm(() => poller.poll());
enableCopyButtons(data.texts);
startView(() => finder?.find());
