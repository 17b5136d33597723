"""What a household pays and plans, as it stands now."""
