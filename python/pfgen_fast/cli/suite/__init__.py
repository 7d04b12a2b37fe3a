"""The commands `pfgen-fast suite`."""
