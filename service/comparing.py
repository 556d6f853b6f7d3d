"""What `recordari rules diff` does: two rule sets side by side."""

from __future__ import annotations

import json
import sys

from .options import WRONG_USE


def diff(before: str, after: str, store: str | None, *, packs: bool, as_json: bool) -> int:
    """Print what differs between two rule sets; 0 when they can be compared, whatever differs."""
    from ..rules.compare import compare, comparison_fields, comparison_lines
    from .rulesources import UnknownRules, ruleset_of

    try:
        found = compare(ruleset_of(before, store, packs=packs), ruleset_of(after, store, packs=packs))
    except UnknownRules as error:
        print(error, file=sys.stderr)
        return WRONG_USE
    if as_json:
        print(json.dumps(comparison_fields(found), ensure_ascii=False))
        return 0
    for line in comparison_lines(found):
        print(line)
    return 0
