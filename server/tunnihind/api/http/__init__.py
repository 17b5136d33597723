"""HTTP for all answers: header fields, problems, content codings, conditional requests and prepared messages."""
