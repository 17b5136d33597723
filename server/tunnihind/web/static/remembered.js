// This script runs before the page is shown. A module would run too late.
// If the address lacks choices that the browser remembers, opens the address with these choices. Fees are added only to
// an address without fees.
{
  const prefix = "tunnihind.";
  const query = new URLSearchParams(location.search);
  const told = query.toString();
  // After Back, a choice that the address lacks is one that the reader has undone.
  const undone = history.state?.names ?? [];
  // Fees in the address may be those of another household. This reader's fees must not be mixed with them.
  const hasFees = ["package", "network", "night", "other", "margin"].some((name) => query.has(name));
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(prefix))) {
      // The key of a choice about fees contains the zone.
      const [name, zone] = key.slice(prefix.length).split(".").reverse();
      if (zone && (zone !== document.documentElement.dataset.zone || hasFees)) continue;
      const value = localStorage[key];
      // A longer value is none of the page's choices, and servers refuse long addresses.
      if (value.length <= 40 && !query.has(name) && !undone.includes(name)) query.set(name, value);
    }
  } catch {
    // If the browser refuses access to its storage, the page is shown as on a first visit.
  }
  if (query.toString() !== told) {
    document.documentElement.hidden = true;
    location.replace(`?${query}${location.hash}`);
  }
}
// If the reader's clock shows another time than the zone's, marks the page, so that it names the zone's clock.
{
  const { dataset } = document.documentElement;
  const now = new Date();
  const time = (/** @type {string | undefined} */ timeZone) => now.toLocaleString("sv", { timeZone });
  if (time(dataset.tz) !== time(undefined)) dataset.otherClock = "";
}
