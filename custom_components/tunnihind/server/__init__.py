"""From a server to what is known of its prices."""
