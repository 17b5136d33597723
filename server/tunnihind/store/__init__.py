"""All known data, and when they became known, kept in an SQL database."""
