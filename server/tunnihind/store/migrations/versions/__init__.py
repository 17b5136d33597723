"""The steps, one per module. Each step names the step before it."""
