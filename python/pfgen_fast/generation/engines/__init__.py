"""Engines: the sources of answers."""
