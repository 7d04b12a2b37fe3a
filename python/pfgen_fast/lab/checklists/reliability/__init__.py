"""How reliable judgements are: agreement, drift and noise of judges, and correlation with other methods."""
