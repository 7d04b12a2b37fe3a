"""The commands that compare runs: `compare` and `place`."""
