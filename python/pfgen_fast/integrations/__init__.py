"""The scores in programs of others: a module for each, which imports that program only when it is used."""
