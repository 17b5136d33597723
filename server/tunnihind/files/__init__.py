"""Reads files of prices and covariates for `import`."""
