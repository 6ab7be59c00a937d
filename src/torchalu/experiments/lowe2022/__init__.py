"""Lowe et al. 2022, Logical Activation Functions: every table and figure."""
