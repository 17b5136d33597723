"""Price paths: 20 equally likely courses of the prices of a run's hours."""
