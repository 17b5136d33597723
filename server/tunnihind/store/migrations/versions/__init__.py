"""The steps, one per module. Each names the step before it."""
