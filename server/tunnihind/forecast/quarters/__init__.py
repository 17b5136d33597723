"""Forecasts quarter-hours from the forecasts of hours, and from a learnt shape of the prices within the hour."""
