// If the address lacks choices, this script opens the address with the reader's last choices. It must run before the
// page is shown. A module would run too late.
{
  const prefix = "tunnihind.";
  const query = new URLSearchParams(location.search);
  const told = query.toString();
  // A shared household view is complete. This reader's fees must not be added to another reader's price.
  const isShared = ["package", "network", "night", "other", "margin"].some((name) => query.has(name));
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(prefix))) {
      // A household's fees are remembered with their zone.
      const [name, zone] = key.slice(prefix.length).split(".").reverse();
      if (zone && (zone !== document.documentElement.dataset.zone || isShared)) continue;
      const value = localStorage[key];
      // Every choice is short, and servers refuse long addresses.
      if (value.length <= 40 && !query.has(name)) query.set(name, value);
    }
  } catch {
    // If the browser stores nothing, the page is shown as on a first visit.
  }
  if (query.toString() !== told) {
    document.documentElement.hidden = true;
    location.replace(`?${query}${location.hash}`);
  }
}
