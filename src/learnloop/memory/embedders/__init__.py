"""Ways to turn a text into a vector, each in a file of its own name."""
