"""Makes a point model's forecasts of past days from the data known on each day."""
