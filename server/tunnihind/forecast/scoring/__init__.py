"""The accuracy of the served forecasts, and of forecasts in backtests."""
