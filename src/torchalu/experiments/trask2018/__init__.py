"""Trask et al. 2018, Neural Arithmetic Logic Units: its tables and figures."""
