// Starts the dashboard: the present price, the chart, the finder, options, a household's fees and code to copy.

import { choiceOfLink, choiceOr, enableCopyButtons, rememberChoice, restoreOnBack, setChoices, setChoicesUndoably } from "./address.js";
import { Finder } from "./finder.js";
import { data, drawChart, poller, scene, startView } from "./view.js";

/**
 * While the reader types into the household form, and when the reader changes or submits it, remembers its values and
 * writes them into the address, if all of them are valid. The values typed into one field are one step for Back.
 * @param {() => void} onChange called after other values have been written
 */
function watchHouseholdForm(onChange) {
  /** @type {EventTarget | null} */
  let typedInto = null;
  // A fresh page replaces the form, so the listener belongs to the document.
  for (const type of ["input", "change", "submit"]) {
    document.addEventListener(type, (event) => {
      const form = /** @type {HTMLFormElement | null} */ (/** @type {Element} */ (event.target).closest("[data-household]"));
      if (!form) return;
      event.preventDefault();
      const isTyping = type === "input";
      if (!(isTyping ? form.checkValidity() : form.reportValidity())) return;
      const isSameStep = event.target === typedInto;
      typedInto = isTyping ? event.target : null;
      /** @type {Record<string, string>} */
      const entered = {};
      for (const field of /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (form.querySelectorAll("label select, label input"))) {
        entered[field.name] = field.value;
      }
      // In a zone with packages, a margin alone is not enough for a household price.
      const rates = "package" in entered ? entered.package : Object.values(entered).join("");
      entered.price = rates && "all";
      if (Object.entries(entered).every(([name, value]) => choiceOr(name) === value)) return;
      for (const [name, value] of Object.entries(entered)) rememberChoice(name, value);
      const changes = Object.fromEntries(Object.entries(entered).map(([name, value]) => [name, value || null]));
      if (isSameStep) setChoices(changes);
      else setChoicesUndoably(changes, Object.keys(entered));
      onChange();
    });
  }
}

/** The finder's form; null if the page has no prices. */
const form = /** @type {HTMLFormElement | null} */ (document.querySelector("[data-finder]"));
const resultsPlace = /** @type {HTMLElement | null} */ (document.querySelector("[data-found]"));
const finder = form && resultsPlace && new Finder(form, resultsPlace, scene, (found, mostExpensive, advice) => {
  scene.found = found;
  scene.mostExpensive = mostExpensive;
  const advicePlace = document.getElementById("next-cheap");
  if (advicePlace && advice) advicePlace.textContent = advice;
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
