"""What happened, and finding it again."""
