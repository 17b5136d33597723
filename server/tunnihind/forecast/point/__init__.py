"""Point models. A point model forecasts one price for each hour."""
