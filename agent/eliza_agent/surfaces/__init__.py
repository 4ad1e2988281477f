"""What a person or a program sees: the command line and how events, errors and status are shown."""
