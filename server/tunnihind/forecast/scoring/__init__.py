"""The accuracy of forecasts, both in backtests and as served."""
