"""The forecast of quarter-hours. It adds a learnt shape within each hour to the hourly run."""
