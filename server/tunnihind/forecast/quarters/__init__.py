"""Forecasts quarter-hours: the forecast of the hour plus a learnt distance of the quarter from the hour's price."""
