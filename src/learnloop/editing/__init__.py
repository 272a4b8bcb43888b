"""Who writes the text: policy writers and prompt editors."""
