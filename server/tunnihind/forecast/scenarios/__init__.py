"""The 20 equally likely price paths over the hours of a run."""
