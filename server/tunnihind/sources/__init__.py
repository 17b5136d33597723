"""The upstream sources of prices and covariates.

`base` defines the interfaces of sources. `configured` returns the sources that an operator's settings name.

`elering` has the prices of all four zones, and needs no key. Elering is the most trusted source. `entsoe` is a second
source of prices, and needs a token. `entsoe_forecasts` has day-ahead forecasts of load, wind and solar power.
`entsoe_xml` parses ENTSO-E's documents. `open_meteo` has live and archived weather forecasts at the places of
`tunnihind.weather_points`. `simulated` is a source for the demo and for tests, with the data of `simulated_market`.

All network traffic goes through `upstream`. A source neither touches the store nor judges prices. The pipeline decides
when to ask a source. `tunnihind.settling` decides which prices are settled.
"""
