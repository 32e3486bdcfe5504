"""A client of Corfu's gRPC services in plain Python: a start to copy, not a package to install."""
