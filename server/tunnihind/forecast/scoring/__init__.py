"""Measures the accuracy of forecasts: in backtests of past days, and for the runs as they were issued."""
