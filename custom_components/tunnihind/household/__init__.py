"""The present prices and plans of a household."""
