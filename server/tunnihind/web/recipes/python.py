"""Print the three cheapest hours in a row."""

import json
from datetime import datetime
from urllib.request import urlopen

HOUR_S = 3600

with urlopen("http://tunnihind.local:8080/api/v1/forecast", timeout=10) as answer:
    body = json.load(answer)

# If an hour has a market price and a forecast, the market price counts.
prices = {hour["ts"]: hour["p50Kwh"] for hour in body["forecast"]}
prices |= {hour["ts"]: hour["eurKwh"] for hour in body["dayAhead"]}

windows = {
    start: [prices[start], prices[start + HOUR_S], prices[start + 2 * HOUR_S]]
    for start in prices
    if start + HOUR_S in prices and start + 2 * HOUR_S in prices
}
best = min(windows, key=lambda start: sum(windows[start]))
print(f"{datetime.fromtimestamp(best).astimezone():%Y-%m-%d %H:%M%z}  {sum(windows[best]) / 3:.4f} EUR/kWh")
