"""What tests of `torchalu algorithm` share: a short training, and how output is read."""

TINY = ["algorithm", "train", "copy", "--length", "4", "--maps", "6", "--steps", "30"]


def refused(capsys, status, *parts):
    """Whether a command ended in one message, with status 2."""
    message = capsys.readouterr().err
    assert status == 2
    assert message.startswith("torchalu: ")
    assert message.count("\n") == 1
    for part in parts:
        assert part in message


def rows(text):
    """The cells of the lines of a table that begin with a length."""
    lines = (line.split() for line in text.splitlines())
    return [cells for cells in lines if cells and cells[0].isdigit()]
