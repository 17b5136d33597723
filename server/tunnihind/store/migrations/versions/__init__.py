"""The steps of the upgrade. Each module is one step, and names the step before it."""
