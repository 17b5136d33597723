"""The prices and the plans of a household, as of now."""
