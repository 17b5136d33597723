"""Computes the prices of a household. The modules don't call Home Assistant."""
