"""The command cftrag, and python -m cftrag."""

import sys


def main() -> int:
    try:
        from .cli import main as run
    except ImportError as error:
        print(f"cftrag: {error}: pip install 'cftrag[cli]'", file=sys.stderr)
        return 1
    return run()


if __name__ == "__main__":
    sys.exit(main())
