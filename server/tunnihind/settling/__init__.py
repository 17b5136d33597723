"""Turns the sources' answers into settled prices.

`sheet` checks one source's prices of a day. `day_prices` compares two versions of a day's prices. `rule` decides which
prices of a zone's delivery day are settled. `settling` stores the prices that `rule` settles.
"""
