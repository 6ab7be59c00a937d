"""Speed and memory, always beside a baseline or a floor measured in the same run."""
