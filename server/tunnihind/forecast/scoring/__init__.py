"""The accuracy of the served forecasts, of forecasts in backtests, and of weather forecasts."""
