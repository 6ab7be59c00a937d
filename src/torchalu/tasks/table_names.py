"""The name of a column as it is read."""


def quoted(name: str) -> str:
    """The name, in backticks unless it is one word.

    A word has letters, digits and underscores, and no digit at its start. It stays as it is even
    where SymPy gives it a meaning, such as `E` or `exp`: a formula has parentheses behind each
    function. A backtick in a name is doubled, and a line break is written as an escape.

    Args:
        name: the column's name.

    Example:
        >>> print(quoted("mass"), quoted("mass [kg]"), quoted("x-y"), quoted("2nd"))
        mass `mass [kg]` `x-y` `2nd`
    """
    return name if name.isidentifier() else f"`{printable(name).replace('`', '``')}`"


def printable(text: str) -> str:
    """The text, with escapes for characters that have no picture.

    Args:
        text: a column's name, or what else a file says.

    Example:
        >>> print(printable("mass\\n[kg]"))
        mass\\n[kg]
    """
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )
