// The page's address holds every choice of its reader, so that a view can be shared.

/** @param {string} name @param {string} fallback */
export function chosen(name, fallback = "") {
  return new URLSearchParams(location.search).get(name) ?? fallback;
}

/**
 * Writes choices into the address; null takes one out of it.
 * @param {Record<string, string | null>} changes
 */
export function choose(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  history.replaceState(null, "", (text ? `?${text}` : location.pathname) + location.hash);
}

/**
 * Returns a link's address with the choices of this page that the link knows nothing of.
 * @param {HTMLAnchorElement} link
 */
export function withChoices(link) {
  const option = link.dataset.option ?? "";
  const query = new URLSearchParams(location.search);
  const linked = new URLSearchParams(link.search);
  const value = linked.get(option);
  if (value === null) query.delete(option);
  else query.set(option, value);
  query.set("lang", linked.get("lang") ?? document.documentElement.lang);
  return `?${query}`;
}
