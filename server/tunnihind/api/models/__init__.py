"""The answers of the API as types, by subject. Their JSON, the OpenAPI document and the tests follow these types.

Schema names, field names, order and required fields come from the specification. Descriptions are `string.Template`s:
`$vat` stands for the current VAT rate, which the OpenAPI document fills in.
"""
