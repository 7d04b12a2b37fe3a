"""Scores of tables in distributed engines: a module for each, which imports that engine only when it is used."""
