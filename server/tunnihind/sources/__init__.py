"""Upstream sources of prices and covariates, each behind one small Protocol.

`base` says what a source has to give, and `configured` which sources an operator's settings name:

- `elering`: prices of all four zones, without a key; it comes first in the order of trust;
- `entsoe` and `entsoe_forecasts` (their documents: `entsoe_xml`): a second source of prices, and day-ahead forecasts of
  load, wind and solar power, with a token;
- `open_meteo`: weather as forecast now and 1 to 7 days ahead, at the places of `tunnihind.weather_points`;
- `simulated`: a simulated market (`simulated_market`), for the demo and for tests.

All network goes through `upstream`. A source holds no state, does not touch the store and does not judge prices: the
pipeline decides when to ask, and `tunnihind.settling` what counts as settled.
"""
