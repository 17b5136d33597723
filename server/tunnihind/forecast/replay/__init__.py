"""Forecasts past days with a point model, from the prices and covariates known at the issue of each forecast."""
