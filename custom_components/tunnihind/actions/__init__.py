"""The integration's actions, and functions that several actions use."""
