"""Makes forecasts of past days with a point model. Each forecast uses only data known on the day of its issue."""
