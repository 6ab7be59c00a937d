"""What tests of `torchalu algorithm` share: a short training, and how tables are read."""

TINY = ["algorithm", "train", "copy", "--length", "4", "--maps", "6", "--steps", "30"]


def rows(text):
    """The cells of the lines of a table that begin with a length."""
    lines = (line.split() for line in text.splitlines())
    return [cells for cells in lines if cells and cells[0].isdigit()]
