"""Files that people hand in and take away: price and covariate history, exports."""
