"""Functions that compute the prices of a household. They have no side effects."""
