"""The forms for a household's fees and plans, and the flows that show the forms."""
