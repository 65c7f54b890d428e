"""The command line of the package: `tilecc`, or `python -m tilecc`."""

import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tilecc")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
