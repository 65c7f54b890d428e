"""For pytest: what `tilecc test` checks of .tile files, as tests.

    # test_kernels.py
    from tilecc.testing import kernels

    test_kernels = kernels("kernels")          # a folder or a file beside this one: one test for each .tile file
"""

import os
import subprocess
import sys
from typing import Any, Callable, Union

from .__main__ import program

__all__ = ["check", "kernels"]


def check(file: Union[str, "os.PathLike[str]"], *options: str) -> None:
    """Runs `tilecc test` on a .tile file, with options such as "--device=sim"; AssertionError with its report if something differs."""
    run = subprocess.run([program(), "test", *options, os.fspath(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    assert run.returncode == 0, run.stdout


def _files(folder):
    """What `tilecc test` looks at there: no links to folders, and nothing that is hidden."""
    for where, folders, names in os.walk(folder):
        folders[:] = [n for n in folders if not n.startswith(".")]
        yield from (f for f in (os.path.join(where, n) for n in names if n.endswith(".tile") and not n.startswith(".")) if os.path.isfile(f))


def kernels(path: Union[str, "os.PathLike[str]"], *options: str) -> Callable[..., Any]:
    """A test function for pytest, parametrized by the .tile files of a folder, subfolders too, or by one file. path: relative to the file that
    calls this. ValueError where there are none. Files of a folder that expect nothing, such as what others import, are skipped."""
    import pytest

    path = os.path.join(os.path.dirname(os.path.abspath(sys._getframe(1).f_globals["__file__"])), os.fspath(path))
    files = [path] if os.path.isfile(path) else sorted(_files(path))
    if not files:
        raise ValueError(f"no .tile file in '{path}'")

    @pytest.mark.parametrize("file", files, ids=[os.path.relpath(f, os.path.dirname(path)) for f in files])
    def test(file):
        try:
            check(file, *options)
        except AssertionError as e:
            if file == path or "expects nothing" not in str(e):
                raise
            pytest.skip("it expects nothing")

    return test
