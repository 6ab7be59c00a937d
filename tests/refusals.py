"""How a command refuses what it cannot do."""


def refused(capsys, status, *parts):
    """Whether a command ended in one message, with status 2."""
    message = capsys.readouterr().err
    assert status == 2
    assert message.startswith("torchalu: ")
    assert message.count("\n") == 1
    for part in parts:
        assert part in message
