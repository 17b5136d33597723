"""Fetches data from the sources, and makes forecasts from the stored data.

`situation` summarises the stored data. `schedule` decides which tasks are due. `pipeline` does the due tasks. `prices`
and `covariates` fetch data from the sources through `source_calls`. The package `settling` decides which prices are
settled. `back_fill` records which years, months and days of the history are stored. `modelling` makes forecasts and
scores in a separate process, which `worker` starts and ends.
"""
