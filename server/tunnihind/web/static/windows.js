// The cheapest and the dearest time to run something: pure functions over periods with prices.

/** @typedef {{ts: number, price: number}} Candidate */

/**
 * The cheapest `length` periods in one piece, the earliest of equals; null where no piece is long enough.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step how long a period is
 * @returns {Candidate[] | null}
 */
export function cheapestPiece(candidates, length, step) {
  let best = null;
  let bestSum = Infinity;
  for (let i = 0; i + length <= candidates.length; i++) {
    const piece = candidates.slice(i, i + length);
    const sum = total(piece);
    const isWhole = piece[length - 1].ts === piece[0].ts + (length - 1) * step;
    // A tiny difference is only a rounding error.
    if (isWhole && sum < bestSum - 1e-9) [best, bestSum] = [piece, sum];
  }
  return best;
}

/**
 * The cheapest `length` periods wherever they are, the earliest of equals; null where there are fewer.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @returns {Candidate[] | null}
 */
export function cheapestPeriods(candidates, length) {
  if (candidates.length < length) return null;
  const cheapest = [...candidates].sort((a, b) => a.price - b.price || a.ts - b.ts).slice(0, length);
  return cheapest.sort((a, b) => a.ts - b.ts);
}

/**
 * The cheapest and the dearest `length` periods, in one piece or wherever they are. There is nothing to avoid where the
 * dearest would share a period with the cheapest, or costs no more.
 * @param {Candidate[]} candidates ascending
 * @param {number} length
 * @param {number} step how long a period is
 * @param {boolean} isSplit
 * @returns {{cheapest: Candidate[] | null, dearest: Candidate[] | null}}
 */
export function cheapestAndDearest(candidates, length, step, isSplit) {
  const search = (/** @type {Candidate[]} */ among) =>
    isSplit ? cheapestPeriods(among, length) : cheapestPiece(among, length, step);
  const cheapest = search(candidates);
  const dearest = negated(search(negated(candidates)));
  const taken = new Set(cheapest?.map(({ ts }) => ts));
  const isApart = cheapest && dearest && !dearest.some(({ ts }) => taken.has(ts)) && total(dearest) > total(cheapest) + 1e-9;
  return { cheapest, dearest: isApart ? dearest : null };
}

/** @template {Candidate[] | null} T @param {T} candidates @returns {T} */
function negated(candidates) {
  return /** @type {T} */ (candidates && candidates.map(({ ts, price }) => ({ ts, price: -price })));
}

/**
 * Joins periods that follow each other.
 * @param {{ts: number}[]} periods ascending
 * @param {number} step how long a period is
 * @returns {import("./backdrop.js").Span[]}
 */
export function pieces(periods, step) {
  /** @type {import("./backdrop.js").Span[]} */
  const joined = [];
  for (const { ts } of periods) {
    const last = joined.at(-1);
    if (last?.to === ts) last.to += step;
    else joined.push({ from: ts, to: ts + step });
  }
  return joined;
}

/** @param {Candidate[]} periods */
function total(periods) {
  return periods.reduce((sum, { price }) => sum + price, 0);
}
