"""Turns the sources' answers into settled prices.

`sheet` checks whether a sheet is a complete and possible day. `day_prices` compares two versions of a day's prices.
`rule` decides which prices settle a zone's delivery day. `settling` applies the rule to the store.
"""
