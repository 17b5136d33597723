// Runs before anything is seen: where the address doesn't say which periods and what VAT to show, it goes to the address
// that says what this reader chose last. A module would be too late for that.
{
  const prefix = "tunnihind.";
  const query = new URLSearchParams(location.search);
  const told = query.size;
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(prefix))) {
      const name = key.slice(prefix.length);
      if (!query.has(name)) query.set(name, localStorage[key]);
    }
  } catch {
    // A browser may keep nothing: then the page is that of a first visit.
  }
  if (query.size > told) {
    document.documentElement.hidden = true;
    location.replace(`?${query}${location.hash}`);
  }
}
