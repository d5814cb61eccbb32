"""Ways to break the analyzer, one at a time: a file, a piece of its source, and what stands there instead.

Each is a mistake that somebody could make: a bound off by one, a sign, a guard that is dropped, a wrong axis.
The piece must occur once in the file; ``mutate.py`` says so loudly where the source has changed.
"""

from mutants import arithmetic, decisions, tiles
from mutants.record import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS = [*arithmetic.MUTANTS, *tiles.MUTANTS, *decisions.MUTANTS]
