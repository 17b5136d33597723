"""Keeps all data in an SQL database. Prices and covariates have the instants at which they became known."""
