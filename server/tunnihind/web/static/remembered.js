// Runs before anything is seen: where the address doesn't say which prices to show, it goes to the address that
// says what this reader chose last. A module would be too late for that.
{
  const prefix = "tunnihind.";
  const query = new URLSearchParams(location.search);
  const told = query.toString();
  // A shared view of a household is all of it: what this reader pays doesn't go into another's price.
  const isShared = ["package", "network", "night", "other", "margin"].some((name) => query.has(name));
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(prefix))) {
      // What a household pays is remembered with the zone where it pays that.
      const [name, zone] = key.slice(prefix.length).split(".").reverse();
      if (zone && (zone !== document.documentElement.dataset.zone || isShared)) continue;
      const value = localStorage[key];
      // No choice is long, and servers refuse long addresses.
      if (value.length <= 40 && !query.has(name)) query.set(name, value);
    }
  } catch {
    // A browser may keep nothing: then the page is that of a first visit.
  }
  if (query.toString() !== told) {
    document.documentElement.hidden = true;
    location.replace(`?${query}${location.hash}`);
  }
}
