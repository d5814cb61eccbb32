"""An independent judge of the analyzer: it *executes* a kernel's Python source with plain integers.

Nothing here uses ``coalesce_lint``'s code. ``execute.py`` runs a kernel under a stand-in for
``triton.language`` (``values.py``, ``language.py``, ``memory.py``) and records the address of every lane of
every access; ``compare.py`` holds a claimed verdict against what was recorded; ``generate.py`` writes
random kernels.
"""
