"""Upstream sources of prices and covariates. Each implements one small Protocol.

`base` has the interface of a source. `configured` returns the sources that an operator's settings name:

- `elering`: prices of all four zones, without a key; the most trusted source;
- `entsoe` and `entsoe_forecasts` (their documents: `entsoe_xml`): a second source of prices, and day-ahead forecasts of
  load, wind and solar power, with a token;
- `open_meteo`: weather forecasts at the places of `tunnihind.weather_points`, live and archived;
- `simulated`: a simulated market (`simulated_market`), for the demo and for tests.

All network traffic goes through `upstream`. A source does not touch the store and does not judge prices. The pipeline
decides when to ask, and `tunnihind.settling` decides which prices count as settled.
"""
