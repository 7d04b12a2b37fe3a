"""Scores over the network, for trainers on several machines (`pfgen-fast serve`)."""
