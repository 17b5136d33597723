"""What decides whether a source's prices count as settled. All of it is pure.

- `gate` judges one delivery day by itself, and two sources' days against each other;
- `shift` finds prices at the wrong time, compared with those that are settled;
- `correction` decides when a new answer may change settled prices.

The pipeline's `settling` applies them to the store.
"""
