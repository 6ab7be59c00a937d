"""What is learned: tables of data, tasks that are sampled, and data sets fetched once."""

from torchalu.tasks.chorales import CHORALES, Chorale, chorales_json, load_chorales
from torchalu.tasks.cifar import (
    CIFAR10,
    CIFAR100,
    Pictures,
    load_cifar10,
    load_cifar100,
    normalize_pictures,
)
from torchalu.tasks.covertype import (
    COVERTYPE,
    CovertypeSplit,
    Patches,
    load_covertype,
    split_covertype,
)
from torchalu.tasks.data_files import DataFiles
from torchalu.tasks.data_folder import cache_folder, data_folder
from torchalu.tasks.idx import DataError, idx_bytes, idx_values
from torchalu.tasks.image_encoder import EFFICIENTNET_LITE0, RESNET18
from torchalu.tasks.is_it_bach import ExcerptBatch, IsItBach
from torchalu.tasks.mnist import MNIST, Digits, load_mnist, normalize
from torchalu.tasks.needle import Needle
from torchalu.tasks.sequential_mnist import SequenceBatch, SequenceOperation, SequentialMNIST
from torchalu.tasks.simple_function import SimpleFunction, intervals
from torchalu.tasks.table import MAX_FEATURES, MAX_MAGNITUDE, Table, TableError, check_table
from torchalu.tasks.table_file import read_table
from torchalu.tasks.tables import load_table

__all__ = [
    "CHORALES",
    "CIFAR10",
    "CIFAR100",
    "COVERTYPE",
    "EFFICIENTNET_LITE0",
    "MAX_FEATURES",
    "MAX_MAGNITUDE",
    "MNIST",
    "RESNET18",
    "Chorale",
    "CovertypeSplit",
    "DataError",
    "DataFiles",
    "Digits",
    "ExcerptBatch",
    "IsItBach",
    "Needle",
    "Patches",
    "Pictures",
    "SequenceBatch",
    "SequenceOperation",
    "SequentialMNIST",
    "SimpleFunction",
    "Table",
    "TableError",
    "cache_folder",
    "check_table",
    "chorales_json",
    "data_folder",
    "idx_bytes",
    "idx_values",
    "intervals",
    "load_chorales",
    "load_cifar10",
    "load_cifar100",
    "load_covertype",
    "load_mnist",
    "load_table",
    "normalize",
    "normalize_pictures",
    "read_table",
    "split_covertype",
]
