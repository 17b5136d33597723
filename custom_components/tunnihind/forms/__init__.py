"""The forms in which a household enters its fees and plans, and the flows that show these forms."""
