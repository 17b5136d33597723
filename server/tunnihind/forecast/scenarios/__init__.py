"""Price paths. They are 20 equally likely courses of prices over the hours of a run."""
