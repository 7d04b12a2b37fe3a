"""The reward server (`pfgen-fast serve`) and its client, for trainers on several machines."""
