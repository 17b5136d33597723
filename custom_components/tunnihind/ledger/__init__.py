"""The cost and the saving of windows that ran, by settled prices."""
