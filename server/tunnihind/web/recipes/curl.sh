# The price of this hour in EUR/kWh with VAT.
curl --silent --compressed http://tunnihind.local:8080/api/v1/forecast | jq '.dayAhead[0].eurKwh'

# To poll: keep the answer and its ETag; while there is nothing new, asking again costs a 304 without a body.
curl --silent --compressed --etag-compare tunnihind.etag --etag-save tunnihind.etag \
  --output tunnihind.json http://tunnihind.local:8080/api/v1/forecast
