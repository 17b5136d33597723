"""Made-up prices and weather, and markets with known rules that the model has to find."""
