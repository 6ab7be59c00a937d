"""Kaiser & Sutskever 2016, Neural GPUs Learn Algorithms: table 1 and the experiments around it."""
