"""Building reference sets: from many raw answers to the sets of a suite."""
