"""The OpenAPI 3.1 description of the API, built from the types of the answers."""
