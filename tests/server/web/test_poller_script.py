"""The script that keeps the page up to date, with unexpected answers."""

import json
from typing import Any

import pytest

from tests.support.machine.node import STATIC, run_module

POLL = """
const [answers, jumps] = JSON.parse(process.argv[2]);
let [deviceMs, steadyMs] = [0, 0];
Date.now = () => deviceMs;
performance.now = () => steadyMs;
globalThis.location = { search: "" };
globalThis.document = { hidden: false, addEventListener() {} };
globalThis.window = { addEventListener() {} };
globalThis.DOMParser = class {
  parseFromString(text) { return { text, getElementById: (id) => (text.includes(`id="${id}"`) ? {} : null) }; }
};
let waiting = null;
globalThis.setTimeout = (next) => { waiting = next; };
globalThis.clearTimeout = () => { waiting = null; };
globalThis.fetch = async (url, { cache }) => {
  const { body, etag } = answers[url.startsWith("api") ? "prices" : "page"].shift();
  asked.push(cache);
  return { ok: true, headers: { get: () => etag ?? null }, text: async () => body };
};
const { Poller } = await import("FOLDER/poller.js");
const told = [];
const asked = [];
const poller = new Poller({
  onPrices: ({ settled }) => told.push(["prices", settled.length]),
  onPage: ({ text }) => told.push(["page", text]),
  onReachable: (since) => told.push(["reachable", since === null]),
  onPollEnd: () => {},
});
await poller.poll();
while (answers.prices.length) {
  deviceMs += 60_000 + (jumps.shift() ?? 0) * 1000;
  steadyMs += 60_000;
  if (!waiting) throw new Error("asks no more");
  await waiting();
}
console.log(JSON.stringify({ told, now: poller.now(), caches: asked.filter((_, n) => n % 2 === 0) }));
""".replace("FOLDER", STATIC.as_uri())

SERVER_NOW = 1_765_792_800
"""The time in each of the answers."""

PAGE = '<script type="application/json" id="page-data">{}</script>'


def prices(n: int) -> str:
    return json.dumps({"now": SERVER_NOW, "freeUntil": 1_766_000_000, "actuals": [{}] * n, "forecast": []})


async def after(asked: dict[str, list[dict[str, str]]], jumps: tuple[int, ...] = ()) -> dict[str, Any]:
    """Poll each minute, once for each answer.

    Return the script's messages to the page, and the script's estimate of the time. The device's clock is set forward
    by `jumps` seconds before the second request and each later request.
    """
    outcome: dict[str, Any] = json.loads(await run_module(POLL, json.dumps([asked, jumps])))
    return outcome


async def told_by(asked: dict[str, list[dict[str, str]]]) -> list[Any]:
    told: list[Any] = (await after(asked))["told"]
    return told


@pytest.mark.parametrize(
    ("strange_prices", "strange_page"),
    [
        ("<html>Sign in to the guest network</html>", PAGE),
        ('{"error": "no"}', PAGE),
        ("null", PAGE),
        (prices(2), "<p>"),
    ],
)
async def test_an_answer_of_another_server_is_none_and_the_next_one_counts(
    strange_prices: str, strange_page: str
) -> None:
    told = await told_by(
        {
            "prices": [{"body": strange_prices, "etag": "strange"}, {"body": prices(3), "etag": "ours"}],
            "page": [{"body": strange_page, "etag": "strange"}, {"body": PAGE, "etag": "ours"}]
            if strange_page != PAGE
            else [{"body": PAGE, "etag": "ours"}],
        }
    )
    assert ["reachable", False] in told
    assert told[-3:] == [["prices", 3], ["page", PAGE], ["reachable", True]]


async def test_an_answer_without_a_tag_may_always_be_news() -> None:
    told = await told_by({"prices": [{"body": prices(1)}, {"body": prices(2)}], "page": [{"body": PAGE}] * 2})
    assert [one for one in told if one[0] == "prices"] == [["prices", 1], ["prices", 2]]


async def test_an_answer_with_the_same_tag_is_no_news() -> None:
    same = {"etag": "same"}
    told = await told_by({"prices": [{"body": prices(1)} | same] * 2, "page": [{"body": PAGE} | same] * 2})
    assert told == [["prices", 1], ["page", PAGE], ["reachable", True], ["reachable", True]]


async def test_the_time_is_the_servers_after_the_devices_clock_has_been_set_right() -> None:
    answers = [{"body": prices(1), "etag": "same"}] * 2
    outcome = await after({"prices": [*answers], "page": [{"body": PAGE, "etag": "same"}] * 2}, (1_765_792_800,))
    assert outcome["now"] == SERVER_NOW
    assert outcome["caches"] == ["reload", "reload"]


async def test_an_answer_that_waited_in_a_cache_does_not_turn_the_time_back() -> None:
    answers = [{"body": prices(n), "etag": str(n)} for n in (1, 2, 3)]
    outcome = await after({"prices": answers, "page": [{"body": PAGE, "etag": "same"}] * 3})
    assert outcome["now"] == SERVER_NOW + 120
    assert outcome["caches"] == ["reload", "no-cache", "no-cache"]
