"""Makes forecasts of past days with a point model. Each forecast uses the data known on its day."""
