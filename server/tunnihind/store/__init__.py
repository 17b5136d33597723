"""Keeps the data in an SQL database.

Each price and each forecast of a covariate is stored with the instant since which it is known.
"""
