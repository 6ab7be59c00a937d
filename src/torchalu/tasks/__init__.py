"""What is learned: tables of data, tasks that are sampled, and data sets fetched once."""

from torchalu.tasks.data_folder import cache_folder
from torchalu.tasks.idx import DataError, idx_bytes, read_idx
from torchalu.tasks.mnist import MNIST_FILES, Digits, load_mnist, mnist_folder, normalize
from torchalu.tasks.needle import Needle
from torchalu.tasks.sequential_mnist import SequenceBatch, SequenceOperation, SequentialMNIST
from torchalu.tasks.simple_function import SimpleFunction, intervals
from torchalu.tasks.table import MAX_FEATURES, MAX_MAGNITUDE, Table, TableError, check_table
from torchalu.tasks.table_file import read_table
from torchalu.tasks.tables import load_table

__all__ = [
    "MAX_FEATURES",
    "MAX_MAGNITUDE",
    "MNIST_FILES",
    "DataError",
    "Digits",
    "Needle",
    "SequenceBatch",
    "SequenceOperation",
    "SequentialMNIST",
    "SimpleFunction",
    "Table",
    "TableError",
    "cache_folder",
    "check_table",
    "idx_bytes",
    "intervals",
    "load_mnist",
    "load_table",
    "mnist_folder",
    "normalize",
    "read_idx",
    "read_table",
]
