import sys

from workboard.server import main

sys.exit(main(sys.argv[1:]))
