"""The types of the API's answers.

The answers' JSON, the OpenAPI document and the tests use these types.

The API's specification sets the names of schemas and fields, the order of fields, and the required fields. Descriptions
are `string.Template`s. In the descriptions, the OpenAPI document replaces placeholders such as `$vat` with this
server's values.
"""
