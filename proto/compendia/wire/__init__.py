"""What travels between the programs: messages, framing, errors, server and channel set-up."""
