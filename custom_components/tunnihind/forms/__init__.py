"""The forms in which a household says what it pays and what it plans, and the flows that show them."""
