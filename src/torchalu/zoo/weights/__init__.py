"""Checkpoints that come with the package; beside each stands its card, as JSON, to be read."""
