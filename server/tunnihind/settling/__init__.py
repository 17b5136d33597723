"""From a source's answer to a settled price, in the order in which it happens.

- `sheet` checks one sheet by itself: is it a whole and possible day?
- `day_prices` compares two days' prices;
- `rule` decides by zone and delivery day, from the sources' answers and the settled prices: pure functions;
- `settling` applies the rule to the store.
"""
