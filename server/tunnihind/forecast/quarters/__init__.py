"""The forecast of quarter-hours.

The forecast of a quarter is the forecast of its hour plus a learnt distance from the hour's price.
"""
