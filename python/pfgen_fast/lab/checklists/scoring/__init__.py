"""From judgements to the scores of models: which judgements count, means, intervals, and tables."""
