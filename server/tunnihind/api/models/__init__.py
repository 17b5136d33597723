"""The types of the API's answers.

The answers' JSON, the OpenAPI document and the tests use these types.

Schema names, field names, order and required fields come from the specification. Descriptions are `string.Template`s.
The OpenAPI document replaces the placeholders in the descriptions, such as `$vat`, with this server's values.
"""
