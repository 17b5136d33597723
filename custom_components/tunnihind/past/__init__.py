"""The prices that the household paid for past hours, for statistics in Home Assistant's recorder."""
