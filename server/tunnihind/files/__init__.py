"""Files for import and export: price and covariate history."""
