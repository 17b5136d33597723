"""The actions, one module each."""
