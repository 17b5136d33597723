"""The cost and the saving of the windows that ran, by settled prices."""
