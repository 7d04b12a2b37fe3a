"""Integrations in other programs: one module for each program, which is imported only when it is used."""
