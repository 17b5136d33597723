// Keeps the reader's choices in the page's address, so that a link shares the view, and some of them in the browser's
// storage. Also writes the server's address into code to copy, and reads the data that the server gives to the scripts.

/** @param {string} name @param {string} fallback */
export function choiceOr(name, fallback = "") {
  return new URLSearchParams(location.search).get(name) ?? fallback;
}

/** The address with other choices; null removes a choice. @param {Record<string, string | null>} changes */
function addressWith(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return (text ? `?${text}` : location.pathname) + location.hash;
}

/** Writes choices into the address. @param {Record<string, string | null>} changes */
export function setChoices(changes) {
  history.replaceState(history.state, "", addressWith(changes));
}

/**
 * Writes choices into the address as a step that Back undoes. `remembered.js` adds none of the names in the state of
 * a step to the step's address.
 * @param {Record<string, string | null>} changes
 * @param {string[]} remembered the names of the changes that the browser remembers; Back restores their old values
 */
export function setChoicesUndoably(changes, remembered) {
  const names = [...(history.state?.names ?? []), ...remembered];
  history.replaceState({ names }, "");
  history.pushState({ names: remembered }, "", addressWith(changes));
}

/**
 * After Back or Forward to an address that `setChoicesUndoably` wrote, stores the remembered choices of this address in
 * the browser again, and reloads the page.
 */
export function restoreOnBack() {
  addEventListener("popstate", ({ state }) => {
    if (!state?.names) return;
    for (const name of state.names) rememberChoice(name, choiceOr(name));
    location.reload();
  });
}

/** The choices about a household's fees. The browser remembers them for each zone separately. */
const ZONE_CHOICES = new Set(["package", "network", "night", "other", "margin", "times", "price"]);

/** Remembers a choice for the next visit. If the value is empty, forgets the choice. @param {string} name @param {string} value */
export function rememberChoice(name, value) {
  const key = `tunnihind.${ZONE_CHOICES.has(name) ? `${document.documentElement.dataset.zone}.` : ""}${name}`;
  try {
    if (value) localStorage[key] = value;
    else delete localStorage[key];
  } catch {
    // The browser may refuse to store the choice, but the address still has it.
  }
}

/** The choice that an option's link makes. @param {HTMLAnchorElement} link @returns {Record<string, string | null>} */
export function choiceOfLink(link) {
  const { option = "" } = link.dataset;
  return { [option]: new URLSearchParams(link.search).get(option) };
}

/**
 * If the server has no public address, writes the address by which the browser reached the server into code to copy. If
 * other networks can't reach this address, also shows a warning.
 * @param {Document} page
 * @param {string | null} placeholder the address to replace; null if the server has a public address
 */
export function showServerAddress(page, placeholder) {
  if (placeholder === null) return;
  const here = new URL(".", location.href).href.replace(/\/$/, "");
  for (const place of page.querySelectorAll("[data-address]")) {
    place.textContent = (place.textContent ?? "").replaceAll(placeholder, here);
  }
  for (const warning of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("[data-private]"))) {
    warning.hidden = !isPrivateHost(location.hostname);
  }
}

/**
 * Returns whether a host is this machine or in a local network, judged by its name or address. Except for some rare
 * addresses, `_is_local_host` in settings.py gives the same result.
 * @param {string} host as in a URL
 */
export function isPrivateHost(host) {
  const name = host.replace(/^\[|\]$|\.$/g, "");
  if (name.includes(":")) return /^(::1?$|::ffff:|f[cd]|fe[89ab])/.test(name);
  if (/^[\d.]+$/.test(name)) {
    const [one, two] = name.split(".").map(Number);
    const isSharedOrLinkLocal = (one === 100 && two >= 64 && two < 128) || (one === 169 && two === 254);
    const isPrivateNetwork = one === 10 || (one === 172 && two >= 16 && two < 32) || (one === 192 && two === 168);
    return one === 0 || one === 127 || isSharedOrLinkLocal || isPrivateNetwork;
  }
  return !name.includes(".") || /\.(local|localhost|lan|home|home\.arpa|internal)$/.test(name);
}

/** @param {Record<string, string>} texts */
export function enableCopyButtons(texts) {
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-copy]"))) {
    // Outside https and localhost, browsers give scripts no clipboard. Readers can still select the code.
    if (!navigator.clipboard) continue;
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement?.querySelector("code")?.textContent ?? "");
      button.textContent = texts.copied;
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
}

/** Reads a page's data for its scripts. @param {Document} page @returns {any} */
export function pageData(page) {
  return JSON.parse(page.getElementById("page-data")?.textContent ?? "{}");
}
