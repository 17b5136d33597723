"""The way from the sources to the store, and from the store to a forecast.

`schedule` says when to do what, `situation` reads from the store what that depends on, and `pipeline` does it. `prices`
and `covariates` ask the sources (`source_calls`), the room `settling` decides what counts, and `back_fill` knows which
history is there. `modelling` makes forecasts and scores in a process of its own (`worker`, `history`).
"""
