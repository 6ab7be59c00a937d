"""The same generated examples in every run."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("search" if os.environ.get("HYPOTHESIS_SEARCH") else "same")
