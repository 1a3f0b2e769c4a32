"""The command cftrag, and python -m cftrag."""

import sys


def main() -> int:
    try:
        from .cli import main as run
    except ImportError as error:
        print(f"cftrag: {error}: install cftrag with its extra cli (its README says how, from a checkout)", file=sys.stderr)
        return 1
    return run()


if __name__ == "__main__":
    sys.exit(main())
