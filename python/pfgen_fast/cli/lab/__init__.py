"""The commands on studies: `annotate` and `experiment`."""
