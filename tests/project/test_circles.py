"""No module imports another one that imports it, directly or through others, type checking and imports in functions included."""
from __future__ import annotations

import grimp

PACKAGES = ("epl", "windows", "runtime")


def circles() -> list[list[str]]:
    """Return the groups of modules that reach one another by imports (strongly connected components, by Tarjan), without packages that
    only gather names."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False)
    imports = {module: sorted(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    result: list[list[str]] = []
    for root in sorted(imports):
        path = [(root, iter(imports[root]))] if root not in numbers else []
        while path:
            module, rest = path[-1]
            if module not in numbers:
                numbers[module] = lowest[module] = len(numbers)
                waiting.append(module)
            for other in rest:
                if other not in numbers:
                    path.append((other, iter(imports[other])))
                    break
                if other in waiting:
                    lowest[module] = min(lowest[module], numbers[other])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[module])
                if lowest[module] == numbers[module]:
                    group = waiting[waiting.index(module):]
                    del waiting[waiting.index(module):]
                    if len(group) > 1:
                        result.append(sorted(group))
    return result


def test_no_module_imports_itself_through_others() -> None:
    assert circles() == []
