"""Rules for coalesce-lint, as an example of a package that offers some."""
