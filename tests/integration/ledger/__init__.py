"""The cost and the saving of windows."""
