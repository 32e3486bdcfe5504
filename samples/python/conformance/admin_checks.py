"""The administration service."""
