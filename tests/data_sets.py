"""Marks tests that read a real data set, which are skipped where it has not been fetched."""

import pytest

from torchalu.tasks import CHORALES, CIFAR10, COVERTYPE, EFFICIENTNET_LITE0, MNIST

_FILES = {files.name: files for files in (CHORALES, CIFAR10, COVERTYPE, EFFICIENTNET_LITE0, MNIST)}


def needs(name):
    """The mark of a data set, and a skip that says what is missing."""
    try:
        _FILES[name].folder()
        missing = ""
    except FileNotFoundError as error:
        missing = str(error)

    def mark(test):
        return getattr(pytest.mark, name)(pytest.mark.skipif(bool(missing), reason=missing)(test))

    return mark
