"""Upstream sources of prices and covariates, each behind one small Protocol.

`base` says what a source is to the pipeline, and `configured` which ones an operator's settings ask for:

- `elering`: prices of all four zones, no key; trusted first;
- `entsoe` (its documents: `entsoe_xml`) and `entsoe_forecasts`: a second opinion on prices, and day-ahead forecasts of
  load, wind and solar power, with a token;
- `open_meteo`: weather as forecast now and 1 to 7 days ahead, at the places of `weather_points`;
- `simulated`: a world of its own (`simulated_market`, `noise`), for the demo and for tests.

All network goes through `upstream`. A source holds no state, does not touch the store and does not judge prices: the
pipeline decides when to ask, and `tunnihind.price_checks` what counts as settled.
"""
