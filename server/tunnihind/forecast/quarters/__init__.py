"""The forecast of quarter-hours. The quarters add a learnt shape within each hour to the hourly run."""
