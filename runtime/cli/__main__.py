"""``python -m runtime.cli`` is the ``epl`` command."""

import sys

from runtime.cli import main

sys.exit(main())
