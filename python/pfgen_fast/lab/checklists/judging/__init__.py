"""Asking judges: requests, parsing of replies, rounds of tries, batches, and a checklist as an evaluator."""
