"""The forecast of quarter-hours: the hourly run with a learnt shape within each hour."""
