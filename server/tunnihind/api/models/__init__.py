"""The types of the API's answers. The answers' JSON, the OpenAPI document and the tests use these types.

The API's specification fixes the names of schemas and fields, the order of the fields, and which fields are required.
Descriptions may contain placeholders such as `$vat`. In the OpenAPI document, the server's values replace them.
"""
