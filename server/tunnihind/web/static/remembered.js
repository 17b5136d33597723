// Runs before the page shows. If the address lacks choices, it goes to the address with this reader's last choices.
// A module would run too late.
{
  const prefix = "tunnihind.";
  const query = new URLSearchParams(location.search);
  const told = query.toString();
  // A shared household view is complete: this reader's fees must not mix into another's price.
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
    // A browser may store nothing: then the page shows as on a first visit.
  }
  if (query.toString() !== told) {
    document.documentElement.hidden = true;
    location.replace(`?${query}${location.hash}`);
  }
}
