// The menu of options closes as menus do: by Escape, by a click beside it, and when the keyboard leaves it.

const menu = /** @type {HTMLDetailsElement} */ (document.querySelector(".menu"));

/** @param {EventTarget | null} place */
const isInside = (place) => place instanceof Node && menu.contains(place);

document.addEventListener("pointerdown", ({ target }) => {
  if (!isInside(target)) menu.open = false;
});
menu.addEventListener("focusout", ({ relatedTarget }) => {
  // Nothing gets the focus where the page's refresh replaces the option that has it.
  if (relatedTarget && !isInside(relatedTarget)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
});
