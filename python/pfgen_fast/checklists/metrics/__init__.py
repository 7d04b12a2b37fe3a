"""What can be said of long answers without a judge: classic metrics, and what goes wrong in them."""
