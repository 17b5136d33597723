"""Computes the costs and savings of windows and batteries from settled prices and measured energy."""
