"""The command line of the package: `tilecc`, or `python -m tilecc`."""

import os
import shutil
import sys


def program():
    """The compiler: the package's own, the one that TILECC names, or that in the PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tilecc")
    found = own if os.path.exists(own) else os.environ.get("TILECC") or shutil.which("tilecc")
    if not found:
        raise FileNotFoundError(f"no tilecc: neither {own}, nor in TILECC or the PATH")
    return found


def main():
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
