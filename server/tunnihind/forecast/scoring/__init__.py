"""Measures the accuracy of forecasts, both in backtests of past days and of the runs as issued."""
