"""The name of a column as it stands in a formula that is read."""


def quoted(name: str) -> str:
    """The name, in backticks unless it is one word.

    A word has letters, digits and underscores, and no digit at its start. It stays as it is even
    where SymPy gives it a meaning, such as `E` or `exp`: a formula has parentheses behind each
    function. A backtick in a name is doubled.

    Args:
        name: the column's name.

    Example:
        >>> print(quoted("mass"), quoted("mass [kg]"), quoted("x-y"), quoted("2nd"))
        mass `mass [kg]` `x-y` `2nd`
    """
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"
