"""The rules, one module each, found by ``coalesce_lint.findings.all_rules``."""
