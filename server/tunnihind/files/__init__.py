"""Reads the files of `import`: histories of prices and covariates."""
