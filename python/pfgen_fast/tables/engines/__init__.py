"""Scores tables in distributed engines: one module for each engine, which is imported only when it is used."""
