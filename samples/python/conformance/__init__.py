"""Checks that the front ends of a cluster keep what their .proto files say, by a client in another language."""
