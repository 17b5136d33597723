"""The parts of entities, triggers and conditions."""
