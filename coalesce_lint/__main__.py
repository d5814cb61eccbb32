"""``python -m coalesce_lint``."""

import sys

from coalesce_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
