"""Hypothesis draws the same examples in every run, unless HYPOTHESIS_SEARCH is set."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")
