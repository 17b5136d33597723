"""Turns the sources' answers into settled prices.

The modules in the order of their work:

- `sheet` checks whether one sheet is a complete and possible day.
- `day_prices` compares two days' prices.
- `rule` decides which prices settle a zone's delivery day. It has only pure functions.
- `settling` applies the rule to the store.
"""
