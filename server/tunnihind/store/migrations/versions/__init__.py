"""The steps that upgrade the tables. Each module is one step, and names the step before it."""
