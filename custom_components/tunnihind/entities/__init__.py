"""What entities, triggers and conditions are made of."""
