"""Asks a judge: requests, prompt templates, stored replies and the cost. The caller words and interprets them."""
