"""The accuracy of forecasts: backtests of past days, the runs as issued, and the measures of both."""
