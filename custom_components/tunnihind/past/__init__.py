"""Past prices of the household, for statistics in Home Assistant's recorder."""
