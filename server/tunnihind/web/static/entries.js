// Folded entries: a link to one opens it, paper shows all, and one button opens or closes all.
// Browsers of today do the first two by themselves; older ones need this.

/** @param {Document} page */
export function unfoldEntries(page) {
  const folded = () => /** @type {HTMLDetailsElement[]} */ ([...page.querySelectorAll("details.entry")]);
  const showLinked = () => {
    const linked = page.getElementById(location.hash.slice(1));
    const entry = linked?.closest("details");
    if (!linked || !entry || entry.open) return;
    entry.open = true;
    linked.scrollIntoView();
  };
  addEventListener("hashchange", showLinked);
  showLinked();

  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folded().filter((entry) => !entry.open);
    for (const entry of opened) entry.open = true;
  });
  addEventListener("afterprint", () => {
    for (const entry of opened) entry.open = false;
  });

  const button = /** @type {HTMLButtonElement} */ (page.querySelector("[data-unfold]"));
  const labels = [button.textContent, button.dataset.unfold ?? ""];
  let areOpen = false;
  button.addEventListener("click", () => {
    areOpen = !areOpen;
    for (const entry of folded()) entry.open = areOpen;
    button.textContent = labels[Number(areOpen)];
  });
}
