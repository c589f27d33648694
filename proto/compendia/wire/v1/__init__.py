"""Version 1 of the wire: the proto file and the code generated from it by `scripts/gen-proto`."""
