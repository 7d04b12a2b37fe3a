"""Marks of people: what annotators said about answers, pairs of answers and verdicts of judges."""
