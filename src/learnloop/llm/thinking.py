"""Takes a reasoning model's thinking out of what it said, and says how many tokens it took."""

OPEN = "<think>"
CLOSE = "</think>"


def split_thinking(text: str) -> tuple[str, str]:
    r"""Return the thinking and the text without it.

    Some chat templates open the thinking in the prompt, so that the text has only the closing
    tag: then all before it is thinking. Thinking that was never closed leaves no text.

    Examples:
        >>> split_thinking("<think>2 + 2</think>\n\n4")
        ('2 + 2', '4')
        >>> split_thinking("2 + 2</think>4")
        ('2 + 2', '4')
        >>> split_thinking("4")
        ('', '4')
    """
    thoughts: list[str] = []
    said: list[str] = []
    if CLOSE in text and OPEN not in text.partition(CLOSE)[0]:
        text = OPEN + text
    while OPEN in text:
        before, _, rest = text.partition(OPEN)
        thought, _, text = rest.partition(CLOSE)
        said.append(before)
        thoughts.append(thought)
    if not thoughts:
        return "", text
    said.append(text)
    return "".join(thoughts), "".join(said).strip()


def thinking_tokens(thinking: str, text: str, tokens_out: int) -> int:
    """Estimate the tokens of the thinking: its share of the characters of all that was written.

    For servers that do not count them. It never exceeds `tokens_out`.

    Examples:
        >>> thinking_tokens("a" * 30, "b" * 10, 20)
        15
    """
    written = len(thinking) + len(text)
    return round(tokens_out * len(thinking) / written) if written else 0
