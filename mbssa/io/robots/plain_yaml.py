"""YAML of texts, lists and mappings: no tags, no anchors, no merges, no key twice, no numbers or dates."""

from __future__ import annotations

from typing import Any


class YamlError(Exception):
    """Fault of a text, at a line if that is known."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.line = line


def plain_yaml(text: str) -> Any:
    """Texts, lists and dictionaries of a document; None for other content."""
    import yaml

    # One guard: the parser has exceptions of many kinds for texts that are none.
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
        return None if node is None else _value(node, set())
    except YamlError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise YamlError(str(error.problem), None if mark is None else mark.line + 1) from None
    except Exception as error:
        raise YamlError(f"{type(error).__name__}, as of a text that is nested too deep") from None


def _value(node: Any, seen: set[int]) -> Any:
    import yaml

    line = node.start_mark.line + 1
    if id(node) in seen:
        raise YamlError("an anchor is named again; write it out", line)
    seen.add(id(node))
    if node.tag.rpartition(":")[2] not in ("str", "seq", "map"):
        raise YamlError(f"the tag {node.tag!r} is not read; take it out", line)
    if isinstance(node, yaml.ScalarNode):
        return None if not node.style and node.value in ("", "~", "null") else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, seen) for each in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        name, line = _value(key, seen), key.start_mark.line + 1
        if not isinstance(name, str) or name == "<<":
            raise YamlError("a key is no text", line)
        if name in found:
            raise YamlError(f"the key {name!r} is there twice; write it once", line)
        found[name] = _value(value, seen)
    return found
