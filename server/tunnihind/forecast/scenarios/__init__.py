"""Joint paths: 20 equally likely courses that the prices of a run's hours may take."""
