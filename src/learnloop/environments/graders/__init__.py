"""Graders: whether an answer is as good as the gold one, whatever the answer tries to do."""
