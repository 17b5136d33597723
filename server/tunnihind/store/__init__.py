"""What is known, and when it became known, kept in an SQL database."""
