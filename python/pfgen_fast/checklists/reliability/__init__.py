"""What judgements are worth: judges that agree, drift, or are noisy, and what else goes with their scores."""
