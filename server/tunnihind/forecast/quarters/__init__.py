"""The forecast of quarter-hours. It is the hourly run with a learnt shape within each hour."""
