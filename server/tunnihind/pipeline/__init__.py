"""Fetches data from the sources, and makes forecasts from the stored data.

`situation` reads from the store the facts that decide which tasks are due. `schedule` decides which tasks are due.
`pipeline` does the due tasks. `prices` and `covariates` fetch data from the sources through `source_calls`. The package
`settling` decides which prices are settled. `back_fill` finds the years, months and days of the history to fill, and
records those that are filled. `modelling` makes forecasts and scores in separate processes, which `worker` starts and
ends.
"""
