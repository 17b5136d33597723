"""Cases on which JavaScript and Python must agree: the scripts of the pages and the card can't use the Python code.

Each case is tested on every program that applies the rule: see `test_shared_rules.py` in `tests/server/web` and in
`tests/integration/prices`.
"""

from typing import Final

HOUR_S: Final = 3_600
QUARTER_S: Final = 900

LEVELS: Final[dict[str, tuple[list[float], list[str]]]] = {
    "one price in each fifth": ([5, 1, 4, 2, 3], ["very_high", "very_low", "high", "low", "normal"]),
    "one price all day": ([0.05] * 24, ["normal"] * 24),
    "two hours": ([1, 2], ["low", "high"]),
    "half of the day is free": (
        [0.0] * 6 + [7, 8, 9, 10, 11, 12],
        ["low"] * 6 + ["normal", *["high"] * 3, *["very_high"] * 2],
    ),
    "below zero": ([-5, 0, 5, 10, 15], ["very_low", "low", "normal", "high", "very_high"]),
    "24 different prices": (
        [float(price) for price in range(24)],
        [*["very_low"] * 5, *["low"] * 5, *["normal"] * 4, *["high"] * 5, *["very_high"] * 5],
    ),
}
"""Prices of a day, and the fifth of the day to which each price belongs. Equal prices share the middle of their
places."""

SCALE: Final = [20.0, 50.0, 80.0, 120.0]
TINTS: Final[dict[float, str]] = {
    -500.0: "negative",
    -0.1: "negative",
    0.0: "t0",
    19.9: "t0",
    20.0: "t1",
    50.0: "t2",
    79.9: "t2",
    80.0: "t3",
    119.9: "t3",
    120.0: "t4",
    4000.0: "t4",
}
"""The prices between the colours, and a price for each colour: from cheap to expensive, and one below zero."""

SCALE_CENTS: Final = [0.8, 6.0, 11.0, 20.0]
PRICE_WORDS: Final[dict[float, str]] = {
    -0.01: "negative",
    0.0: "free",
    0.79: "free",
    0.99: "free",
    1.0: "t1",
    6.0: "t2",
    11.0: "t3",
    19.99: "t3",
    20.0: "t4",
    121.99: "t4",
}
"""The prices between the colours, and prices with their words, in c/kWh: a price below 1 c/kWh is nearly free on any
scale, and any other price has the word of its colour."""

PRICE_TEXT: Final[dict[float, tuple[str, str]]] = {
    0.0: ("0.00", "0,00"),
    -0.001: ("0.00", "0,00"),
    5.0: ("5.00", "5,00"),
    -12.34: ("−12.34", "−12,34"),
    123.4: ("123.40", "123,40"),
    1234.5: ("1234.50", "1234,50"),
}
"""Prices in cents, with the text of the page and the card in English, and in Estonian and Russian."""

REPEATED_HOUR: Final[dict[str, bool]] = {
    "2026-10-25T02:00:00+03:00": False,
    "2026-10-25T03:00:00+03:00": True,
    "2026-10-25T03:45:00+03:00": True,
    "2026-10-25T03:00:00+02:00": True,
    "2026-10-25T04:00:00+02:00": False,
    "2026-03-29T04:00:00+03:00": False,
}
"""Instants, and whether their clock time comes twice on their day. Such a time has to have its zone."""

PRIVATE_ADDRESSES: Final[dict[str, bool]] = {
    "http://localhost:8080": True,
    "http://127.0.0.1": True,
    "http://[::1]:8080": True,
    "http://192.168.1.20:8080": True,
    "http://10.0.0.5": True,
    "http://172.31.255.1": True,
    "http://169.254.7.7": True,
    "http://100.64.0.9": True,
    "http://[fd12:3456::1]": True,
    "http://[fe80::1]": True,
    "http://[::ffff:192.168.1.20]": True,
    "http://homeassistant.local:8123": True,
    "http://Server.LOCAL.:8080/prices": True,
    "http://prices.lan": True,
    "http://prices.home.arpa": True,
    "http://prices.internal": True,
    "http://nas": True,
    "https://prices.example.org": False,
    "https://prices.notlocal": False,
    "https://local.example.org": False,
    "http://172.32.0.1": False,
    "http://8.8.8.8": False,
    "http://[2001:4860:4860::8888]": False,
}
"""Addresses of servers, and whether only clients in the server's own network can reach the address."""

type Band = tuple[float, float, float]

AVERAGE_BAND: Final[dict[str, tuple[dict[int, float | Band], Band]]] = {
    "settled": ({0: 5.0, HOUR_S: 6.0}, (5.5, 5.5, 5.5)),
    "an hour": ({0: (1.0, 2.0, 4.0)}, (1.0, 2.0, 4.0)),
    "three hours in a row": (dict.fromkeys(range(0, 3 * HOUR_S, HOUR_S), (1.0, 2.0, 4.0)), (1.07, 2.0, 3.86)),
    "an hour on two days": (dict.fromkeys((0, 24 * HOUR_S), (1.0, 2.0, 4.0)), (1.2026, 2.0, 3.5947)),
    "different hours": (
        {0: (-2.0, 0.0, 1.0), HOUR_S: (1.0, 2.0, 7.0), 5 * HOUR_S: (3.0, 4.0, 4.0)},
        (0.8147, 2.0, 3.9538),
    ),
    "half of it settled": ({0: 5.0, HOUR_S: (1.0, 2.0, 4.0)}, (3.0, 3.5, 4.5)),
    "the quarters of an hour": (dict.fromkeys(range(0, HOUR_S, QUARTER_S), (1.0, 2.0, 4.0)), (1.0284, 2.0, 3.9431)),
}
"""Starts of periods with a settled price or a forecast's p10, p50 and p90, and the band of the average price.

The errors of hours are only partly related; `plans/saving.py` of the integration has the rule. On each morning of 2025,
the cheapest and the most expensive runs of 2 to 8 hours were chosen from the next 48. In 83% of the runs, the average
price lay within the band, in one piece and split. Within the average of the hours' own bands came .86 in one piece and
.89 split
(`bench_saving.py --runs`).
"""
