"""Settles prices: from a source's answer to a settled price.

The modules in the order of their work:

- `sheet` checks whether one sheet is a complete and possible day.
- `day_prices` compares two days' prices.
- `rule` decides by zone and delivery day, from the sources' answers and the settled prices. It has only pure functions.
- `settling` applies the rule to the store.
"""
