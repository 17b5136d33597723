"""The product's model: ridges and a kernel regression on prices, calendar and weather, in numpy."""
