"""The names a user imports."""

import subprocess
import sys
from importlib import metadata

import pytest

import torchalu


def test_every_public_name_is_there():
    for name in torchalu.__all__:
        assert getattr(torchalu, name) is not None
        assert name in dir(torchalu)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'snapp'"):
        torchalu.snapp  # noqa: B018


def test_version_is_the_distribution_s():
    assert torchalu.__version__ == metadata.version("torchalu")


def test_importing_the_package_does_not_import_torch():
    program = "import sys, torchalu; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
