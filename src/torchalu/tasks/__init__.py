"""What is learned: tables of data, real ones that come with the package, generated ones."""

from torchalu.tasks.needle import Needle
from torchalu.tasks.simple_function import SimpleFunction, intervals
from torchalu.tasks.table import MAX_FEATURES, MAX_MAGNITUDE, Table, TableError, check_table
from torchalu.tasks.table_file import read_table
from torchalu.tasks.tables import load_table

__all__ = [
    "MAX_FEATURES",
    "MAX_MAGNITUDE",
    "Needle",
    "SimpleFunction",
    "Table",
    "TableError",
    "check_table",
    "intervals",
    "load_table",
    "read_table",
]
