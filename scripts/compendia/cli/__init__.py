"""The one `compendia` command, and the demo."""
