"""The types of the API's answers. The answers' JSON, the OpenAPI document and the tests use these types.

The API's specification sets the names of schemas and fields, the order of fields, and the required fields. Descriptions
are `string.Template`s. In the OpenAPI document, the server's values replace placeholders such as `$vat`.
"""
