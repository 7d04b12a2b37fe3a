"""The commands `pfgen-fast discern`."""
