"""The verbs of the command line, one module each. Each imports what it needs only when it runs."""
