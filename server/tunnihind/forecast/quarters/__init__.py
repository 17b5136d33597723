"""Splits the forecast of each hour into forecasts of its four quarters."""
