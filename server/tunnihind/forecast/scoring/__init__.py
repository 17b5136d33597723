"""How well forecasts did: backtests of past days, the runs as they were issued, and the measures of both."""
