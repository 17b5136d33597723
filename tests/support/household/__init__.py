"""A home without a real house: Home Assistant's test environment, its automations, forms, meters and plans."""
