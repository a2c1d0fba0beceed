"""Who may import whom: the picture in ARCHITECTURE.md, checked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("harness", "scenarios", "reference_impl", "reports")
CONTRACT_PARTS = ("capability", "codes", "doors", "messages", "results")
FREE_OF_OURS = (*CONTRACT_PARTS, "contract", "history", "points", "clocks")
REFERENCE_MAY = {"contract", "points", "clocks"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(path: Path, *, only_module_level: bool = False) -> Iterator[tuple[int, str]]:
    """Level and dotted name of each import; what only type checkers see is left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(tree.body) if only_module_level else list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name


@pytest.mark.parametrize("path", modules("harness"), ids=named)
def test_the_harness_knows_no_implementation(path: Path) -> None:
    for level, name in imports(path, only_module_level=True):
        assert (
            level > 0 or not name.startswith("leaserace.") or name.startswith("leaserace.harness")
        )


@pytest.mark.parametrize("name", FREE_OF_OURS)
def test_the_base_of_the_harness_imports_nothing_of_ours(name: str) -> None:
    for level, module in imports(ROOT / "harness" / f"{name}.py", only_module_level=True):
        if level != 1 or module not in CONTRACT_PARTS:
            assert level == 0
            assert not module.startswith("leaserace")


@pytest.mark.parametrize("path", modules("scenarios"), ids=named)
def test_scenarios_see_the_harness_only(path: Path) -> None:
    for level, name in imports(path):
        if level == 0 and name.startswith("leaserace"):
            assert name.startswith("leaserace.harness")


@pytest.mark.parametrize("path", modules("reference_impl"), ids=named)
def test_the_reference_sees_what_any_adapter_sees(path: Path) -> None:
    for level, name in imports(path):
        if level == 0 and name.startswith("leaserace."):
            folder, _, leaf = name.removeprefix("leaserace.").partition(".")
            assert folder == "harness"
            assert leaf.split(".")[0] in REFERENCE_MAY


@pytest.mark.parametrize("path", modules("reports"), ids=named)
def test_reports_read_the_harness_only(path: Path) -> None:
    for level, name in imports(path):
        if level == 0 and name.startswith("leaserace."):
            assert name.startswith(("leaserace.harness", "leaserace.reports"))


@pytest.mark.parametrize(
    "path", [path for folder in FOLDERS for path in modules(folder)], ids=named
)
def test_nothing_is_imported_by_its_folder_name(path: Path) -> None:
    for level, name in imports(path):
        assert level > 0 or name.split(".")[0] not in FOLDERS
