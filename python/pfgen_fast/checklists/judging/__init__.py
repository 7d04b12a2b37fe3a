"""Asking judges: requests, what replies say, rounds of tries, batches, and a checklist as an evaluator."""
