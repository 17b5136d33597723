"""Computes the cost and the saving of past windows from settled prices."""
