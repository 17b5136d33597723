"""Takes data from the sources into the store, and makes forecasts from the store.

`schedule` decides when to do which task, from the state that `situation` reads from the store. `pipeline` does the
tasks. `prices` and `covariates` ask the sources through `source_calls`, and the package `settling` decides which prices
count. `back_fill` knows which history is stored. `modelling` makes forecasts and scores in a separate process, with
`worker` and `history`.
"""
