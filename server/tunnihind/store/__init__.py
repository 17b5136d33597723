"""Keeps the data in an SQL database. Each price and covariate is stored with the instant at which it became known."""
