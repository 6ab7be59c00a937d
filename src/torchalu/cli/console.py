"""Standard output, as all commands write to it."""

from rich.console import Console


class Output(Console):
    """A console that raises BrokenPipeError, as `print` does, where rich would end the process."""

    def on_broken_pipe(self) -> None:
        """Nobody reads any more; called where the error is handled."""
        raise
