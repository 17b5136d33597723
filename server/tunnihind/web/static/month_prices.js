// Fetches market prices month by month from the server's history. The browser keeps complete months, because the server
// lets it cache them for ever. Nothing else is ever sent.

const AT_A_TIME = 2;
const TRIES = 8;
const DEFAULT_WAIT_S = 2;

/**
 * Fetches several months of prices, two at a time. If the server is busy, waits as long as its `Retry-After` asks.
 * @param {[month: string, resolution: string][]} wanted
 * @param {(prices: [ts: number, eurMwh: number][], month: string, resolution: string) => void} onMonth a month that the server does not have is empty
 * @param {AbortSignal} signal
 */
export async function fetchMonths(wanted, onMonth, signal) {
  const waiting = [...wanted];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) onMonth(await fetchMonth(...next, signal), ...next);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

/**
 * Throws an error if the server doesn't answer.
 * @param {string} month @param {string} resolution @param {AbortSignal} signal @returns {Promise<[number, number][]>}
 */
async function fetchMonth(month, resolution, signal) {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`api/v1/history?month=${month}&resolution=${resolution}`, { signal });
    if (answer.status === 404) return [];
    if (answer.ok) {
      /** @type {{prices: {ts: number, eurMwh: number}[]}} */
      const { prices } = await answer.json();
      return prices.map(({ ts, eurMwh }) => [ts, eurMwh]);
    }
    if (![429, 503].includes(answer.status) || tries === TRIES) throw new Error(`${month}: HTTP ${answer.status}`);
    const seconds = Number(answer.headers.get("Retry-After")) || DEFAULT_WAIT_S;
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
}
