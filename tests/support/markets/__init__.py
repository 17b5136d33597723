"""Prices and weather of our own making, and markets with planted truths for the model."""
