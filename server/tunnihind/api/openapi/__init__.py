"""The OpenAPI 3.1 description of the API, built from the same types that make the answers."""
