"""What a server runs on: processes, clocks that are wrong, nginx, the local network, Node.js."""
