"""The 20 equally likely price paths for the hours of a run."""
