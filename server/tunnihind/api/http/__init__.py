"""HTTP for all answers: header fields, problems, content codings and conditional requests."""
