"""Turns the sources' answers into settled prices. All functions are pure; `pipeline.settler` stores what they settle.

`sheet` checks one source's prices of a day. `witness` is what the source last said about the day. `day_prices` compares
two versions of a day's prices. `rule` decides which prices of a zone's delivery day are settled.
"""
