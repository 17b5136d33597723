"""Upstream sources of prices and covariates, each behind one small Protocol, and the plausibility gate."""
