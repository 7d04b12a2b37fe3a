"""Rewards for training: a score, shaped so that an optimiser does not gain from loops, copies or cut answers."""
