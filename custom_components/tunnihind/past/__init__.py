"""The prices that the household paid for past hours, for the statistics in Home Assistant's recorder."""
