"""Keeps all data in an SQL database. Prices and covariates are stored with the instants at which they became known."""
