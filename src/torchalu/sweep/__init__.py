"""A study carried out, on one machine or many, into a run folder that survives."""

from torchalu.sweep.sweep import Engine, choose_engine, complete, run

__all__ = ["Engine", "choose_engine", "complete", "run"]
