"""Pure functions that compute the prices of a household."""
