// The form of a household's package and margin: kept in the browser, and in the address so that it can be shared.

import { choose, remember } from "./address.js";

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
