"""Computes the prices of a household. The modules don't use Home Assistant."""
