"""Walking syntax trees."""

import ast
from pathlib import Path

from coalesce_lint.syntax import walk

LEFT_OUT = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
ODD = """
async def f(a, /, b: int = 1, *c, d=2, **e):
    match a:
        case {"k": [1, *rest], **more} if b: pass
        case Point(x=0) | (1 as y): pass
    async with a as b, c: pass
    return [x async for x in a if x], {**a, 1: 2}, f"{a!r:{b}}", lambda q=1: (yield), (z := 1), a[1:2, ...]
"""


def test_the_walk_is_that_of_ast_without_operators_and_contexts():
    texts = [ODD, *(p.read_text() for p in Path(__file__).parent.glob("test_*.py"))]
    for tree in map(ast.parse, texts):
        assert walk(tree) == [n for n in ast.walk(tree) if not isinstance(n, LEFT_OUT)]
