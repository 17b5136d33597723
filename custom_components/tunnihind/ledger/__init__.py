"""Computes the costs and savings of windows from settled prices and the devices' energy."""
