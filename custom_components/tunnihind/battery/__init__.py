"""The plan of a home battery, as pure functions: at what power to charge and discharge, and what that saves."""
