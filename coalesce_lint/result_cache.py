"""Results of earlier runs in ``.coalesce_lint_cache/``, so that only what changed is analyzed again.

A result is kept under a digest of everything that it was made from: this package's own sources, Python's
version, the libraries that parse and simplify, the settings, the folder the run was started in, the file's
name and content, and the launches that were found for its kernels. With it go the answers that the file
system gave about other files (``consulted``): helpers that were read, and names under which there was none.
A result is used only while all of that is as it was.

One SQLite file holds everything: its transactions make runs at the same time safe. Values are JSON with a
checksum; nothing in them is ever run. Whatever goes wrong here makes the run slower and changes nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalesce_lint import __version__, consulted, records
from coalesce_lint.check_file import Counts, FileResult, Work

if TYPE_CHECKING:
    import sqlite3

FOLDER = ".coalesce_lint_cache"
_FILE = "results.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS result (key TEXT PRIMARY KEY, day INTEGER, value TEXT) WITHOUT ROWID"
#: What backup programs look for to leave a folder out (bford.info/cachedir).
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of coalesce-lint; it can be deleted.\n"
#: Seconds to wait for another run that writes; after that this run goes on without the cache.
_PATIENCE = 2.0
_DAY = 86_400
#: Days after which a result that nobody asked for is deleted, and the most results that are kept.
_KEPT_DAYS, _KEPT_RESULTS = 30, 10_000


class ResultCache:
    """The results in the cache folder ``folder`` for one run that does ``todo`` with every file.

    ``rules`` is what the rules of other packages are made of (``discovery.sources``).
    """

    def __init__(self, folder: Path, todo: Work, rules: Iterable[object] = ()) -> None:
        self._folder = folder
        self._database: sqlite3.Connection | None = None
        self._new: list[tuple[str, int, str]] = []
        self._used: list[str] = []
        self._today = int(time.time() // _DAY)
        self._now: dict[tuple[str, bool], str] = {}
        with contextlib.suppress(OSError):
            self._base = [_tool(), records.plain(list(rules)), todo.plain(), os.getcwd()]
            self._open()

    def launches(self, hosts: Sequence[tuple[str, bytes]], kernels: frozenset[str]) -> dict[str, str] | None:
        """The digest of the launches of each file's kernels, as an earlier run found those of ``kernels``
        (names) in ``hosts``.
        """
        value = self._get(self._hosts_key(hosts, kernels))
        return None if value is None else {str(k): str(v) for k, v in value.items()}

    def keep_launches(
        self,
        hosts: Sequence[tuple[str, bytes]],
        kernels: frozenset[str],
        digests: Mapping[str, str],
        answers: Mapping[str, str],
    ) -> None:
        self._put(self._hosts_key(hosts, kernels), dict(digests), answers)

    def result(self, name: str, data: bytes, launches: str) -> FileResult | None:
        """What came of the file ``name`` with the content ``data`` earlier. ``launches``: their digest."""
        value = self._get(self._file_key(name, data, launches))
        try:
            return None if value is None else _to_result(name, value)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def keep(self, data: bytes, launches: str, result: FileResult) -> None:
        """Keeps ``result``, unless it may come out otherwise next time (a limit of time was reached)."""
        if not result.crash and result.lasting:
            self._put(self._file_key(result.path, data, launches), _of_result(result), result.consulted)

    def close(self) -> None:
        """Writes what is new, in one transaction."""
        database, self._database = self._database, None
        if database is None:
            return
        with self._forgiven(), contextlib.closing(database):
            if self._new or self._used:
                with database:
                    database.execute("BEGIN IMMEDIATE")
                    database.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", self._new)
                    database.executemany(
                        "UPDATE result SET day = ? WHERE key = ?", [(self._today, key) for key in self._used]
                    )
                    database.execute("DELETE FROM result WHERE day < ?", (self._today - _KEPT_DAYS,))
                    database.execute(
                        "DELETE FROM result WHERE key IN "
                        "(SELECT key FROM result ORDER BY day DESC LIMIT -1 OFFSET ?)",
                        (_KEPT_RESULTS,),
                    )

    def _hosts_key(self, hosts: Sequence[tuple[str, bytes]], kernels: frozenset[str]) -> str:
        contents = [[name, consulted.digest(data)] for name, data in hosts]
        return self._key("launches", sorted(kernels), *contents)

    def _file_key(self, name: str, data: bytes, launches: str) -> str:
        return self._key("file", name, consulted.digest(data), launches)

    def _key(self, *parts: Any) -> str:
        return fingerprint([self._base, *parts]) if self._database is not None else ""

    def _get(self, key: str) -> Any:
        """The value under ``key`` where it is whole and still true."""
        if self._database is None:
            return None
        row = None
        with self._forgiven():
            row = self._database.execute("SELECT day, value FROM result WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        day, text = row
        try:
            checksum, _, body = text.partition("\n")
            if checksum != _checksum(key, body):
                return None
            value, answers = json.loads(body)
            if not all(self._is_still(path, answer) for path, answer in answers.items()):
                return None
        except (ValueError, TypeError, AttributeError, RecursionError):
            return None
        if day != self._today:
            self._used.append(key)
        return value

    def _put(self, key: str, value: Any, answers: Mapping[str, str]) -> None:
        if self._database is not None:
            body = json.dumps([value, dict(answers)])
            self._new.append((key, self._today, f"{_checksum(key, body)}\n{body}"))

    def _is_still(self, path: str, answer: str) -> bool:
        """Whether the file system still gives ``answer`` about ``path``; asked once a run."""
        asked = (path, answer in consulted.SHORT_ANSWERS)
        if asked not in self._now:
            self._now[asked] = consulted.answer_now(path, answer)
        return self._now[asked] == answer

    def _open(self) -> None:
        try:
            import sqlite3
        except ImportError:  # Python can be built without it
            return
        with self._forgiven():
            make_folder(self._folder)
            database = sqlite3.connect(self._folder / _FILE, timeout=_PATIENCE, isolation_level=None)
            self._database = database
            database.execute("PRAGMA synchronous = OFF")  # a torn file is noticed, and costs one cold run
            database.execute(_TABLE)

    @contextlib.contextmanager
    def _forgiven(self) -> Any:
        """Ends the use of the cache where it fails; a file that is no database of ours is deleted."""
        import sqlite3

        try:
            yield
        except sqlite3.OperationalError:  # locked for too long, a full or read-only disk
            self._give_up()
        except sqlite3.Error:
            self._give_up()
            for name in (_FILE, f"{_FILE}-journal"):
                with contextlib.suppress(OSError):
                    os.unlink(self._folder / name)
        except (OSError, ValueError):
            self._give_up()

    def _give_up(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()


def fingerprint(value: Any) -> str:
    """The digest of a plain value (``records.plain``)."""
    return consulted.digest(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass"))


def folder_for(root: Path | None) -> Path:
    """Where the cache is: beside the settings file, else in the current folder."""
    return (root or Path.cwd()) / FOLDER


def make_folder(folder: Path) -> None:
    """Makes the cache folder, which git and backups leave out. Raises OSError."""
    folder.mkdir(exist_ok=True)
    for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
        if not (folder / name).exists():
            (folder / name).write_text(text)


def remove(folder: Path) -> bool:
    """Deletes the cache folder; False where there is none. Raises OSError."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _tool() -> list[str]:
    """What computes results: version and sources (which change without it while they are worked on)."""
    package = Path(__file__).parent
    digests = []
    from coalesce_lint import rules

    for top in [str(package), *map(str, rules.__path__)]:
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "verify"))
            for name in sorted(names):
                if name.endswith((".py", ".pyc", ".so")):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as file:
                        digests.append([os.path.relpath(path, top), consulted.digest(file.read())])
    return [__version__, platform.python_version(), fingerprint(digests), *_library()]


def _library() -> list[str]:
    """The simplifying library: its folder of metadata has the version in its name."""
    from importlib.util import find_spec

    spec = find_spec("sympy")
    where = Path(spec.origin).parent.parent if spec is not None and spec.origin else None
    return sorted(str(p) for p in where.glob("sympy-*info")) if where is not None else []


def _checksum(key: str, body: str) -> str:
    return consulted.digest(f"{key}\n{body}".encode("utf-8", "surrogatepass"))


def _of_result(result: FileResult) -> dict[str, Any]:
    return {
        "findings": [records.of_finding(f) for f in result.findings],
        "counts": vars(result.counts),
        "used": sorted(result.used),
        "idle": [[key, records.of_finding(f)] for key, f in result.idle],
    }


def _to_result(path: str, value: Mapping[str, Any]) -> FileResult:
    return FileResult(
        path,
        findings=[records.to_finding(f) for f in value["findings"]],
        counts=Counts(**value["counts"]),
        used={_to_key(k) for k in value["used"]},
        idle=[(_to_key(k), records.to_finding(f)) for k, f in value["idle"]],
    )


def _to_key(record: Sequence[Any]) -> tuple[str, int, str]:
    path, line, entry = record
    return (str(path), int(line), str(entry))
