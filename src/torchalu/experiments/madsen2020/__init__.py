"""Madsen & Johansen 2020, Neural Arithmetic Units: every table and figure."""
