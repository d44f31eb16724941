"""`python -m hark` is `hark`."""

import sys

from hark.cli import main

if __name__ == "__main__":
    sys.exit(main())
