"""What is learned: tables of data, tasks that are sampled, and data sets fetched once."""

from torchalu.tasks.algorithms import (
    AlgorithmicTask,
    CarryTask,
    StringFileTask,
    SymbolBatch,
    algorithm,
    algorithm_names,
    decode,
    encode,
    read_task_file,
)
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
from torchalu.tasks.grid_rules import GRID_ACTIONS, GridRules
from torchalu.tasks.grid_worlds import GridStep, GridView, GridWorlds
from torchalu.tasks.idx import DataError, idx_bytes, idx_values
from torchalu.tasks.image_encoder import EFFICIENTNET_LITE0, RESNET18
from torchalu.tasks.is_it_bach import ExcerptBatch, IsItBach
from torchalu.tasks.mnist import MNIST, Digits, load_mnist, normalize
from torchalu.tasks.mnist_parity import MNISTParity, ParityBatch
from torchalu.tasks.needle import Needle
from torchalu.tasks.number_words import (
    WORD_VOCABULARY,
    NumberWords,
    WordBatch,
    encode_words,
    number_words,
)
from torchalu.tasks.programs import (
    PROGRAM_SYMBOLS,
    Program,
    ProgramBatch,
    Programs,
    encode_programs,
    evaluate_program,
)
from torchalu.tasks.recurrent_function import RecurrentFunction, SeriesBatch, random_sections
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
    "GRID_ACTIONS",
    "MAX_FEATURES",
    "MAX_MAGNITUDE",
    "MNIST",
    "PROGRAM_SYMBOLS",
    "RESNET18",
    "WORD_VOCABULARY",
    "AlgorithmicTask",
    "CarryTask",
    "Chorale",
    "CovertypeSplit",
    "DataError",
    "DataFiles",
    "Digits",
    "ExcerptBatch",
    "GridRules",
    "GridStep",
    "GridView",
    "GridWorlds",
    "IsItBach",
    "MNISTParity",
    "Needle",
    "NumberWords",
    "ParityBatch",
    "Patches",
    "Pictures",
    "Program",
    "ProgramBatch",
    "Programs",
    "RecurrentFunction",
    "SequenceBatch",
    "SequenceOperation",
    "SequentialMNIST",
    "SeriesBatch",
    "SimpleFunction",
    "StringFileTask",
    "SymbolBatch",
    "Table",
    "TableError",
    "WordBatch",
    "algorithm",
    "algorithm_names",
    "cache_folder",
    "check_table",
    "chorales_json",
    "data_folder",
    "decode",
    "encode",
    "encode_programs",
    "encode_words",
    "evaluate_program",
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
    "number_words",
    "random_sections",
    "read_table",
    "read_task_file",
    "split_covertype",
]
