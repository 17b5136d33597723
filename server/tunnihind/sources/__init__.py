"""The upstream sources of prices and covariates.

`base` defines the interfaces of sources. `configured` chooses the sources according to the operator's settings.

`elering` fetches the prices of all four zones from Elering, without a key. Elering is the most trusted source of
prices. `entsoe` fetches prices from ENTSO-E with the operator's token. `entsoe_forecasts` fetches ENTSO-E's day-ahead
forecasts of load, wind and solar power. `entsoe_xml` parses ENTSO-E's documents. `open_meteo` fetches live and archived
weather forecasts for the places of `tunnihind.weather_points`. `simulated` provides the data of `simulated_market`, for
the demo and for tests.

`upstream` sends all requests to sources. A source does not use the store, and does not judge prices. The pipeline
and the command `check` decide when a source gets a request. `tunnihind.settling` decides which prices are settled.
"""
