"""The integration's actions, with one or two actions in each module."""
