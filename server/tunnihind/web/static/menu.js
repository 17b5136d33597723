// Opens a menu when the reader clicks on a link to it. Closes menus on Escape, on a press outside, and when the focus
// leaves them.

/** Returns the open menus. They are looked up each time, because a fresh page may replace menus. */
const openMenus = () => /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(":is(.menu, .zones, .household)[open]"));

/** @param {EventTarget | null} place */
function closeAllBut(place) {
  for (const menu of openMenus()) if (!(place instanceof Node && menu.contains(place))) menu.open = false;
}

document.addEventListener("pointerdown", ({ target }) => closeAllBut(target));
document.addEventListener("focusout", ({ relatedTarget }) => {
  // If a fresh page replaces the focused element, `relatedTarget` is null, and the menu stays open.
  if (relatedTarget) closeAllBut(relatedTarget);
});
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest("[data-opens]");
  const menu = document.getElementById(link?.getAttribute("data-opens") ?? "");
  if (!(menu instanceof HTMLDetailsElement)) return;
  event.preventDefault();
  menu.open = true;
  menu.querySelector("summary")?.focus();
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
});
