"""What a user would otherwise take, each in a file of its own, written as well as its library allows."""
