"""`python -m compendia.cli` is the `compendia` command, wherever the script folder is."""

from .main import main

main()
