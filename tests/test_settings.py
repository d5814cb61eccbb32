import json

import pytest

from coalesce_lint import settings
from coalesce_lint.assume import Assumptions
from coalesce_lint.findings import all_rules
from coalesce_lint.selection import Selection, split_codes
from coalesce_lint.settings import Settings, SettingsError

DEFAULT = [
    "CL101", "CL102", "CL103", "CL104", "CL105",
    "CL201", "CL202", "CL203", "CL204", "CL205", "CL206",
    "CL301", "CL302", "CL303",
    "CL401", "CL402", "CL403",
    "CL501",
    "CL901",
]  # fmt: skip
DEFAULT = [code for code in DEFAULT if code in {r.code for r in all_rules()}]


def active(*layers):
    return [r.code for r in Settings(list(layers)).active(all_rules())]


def named(*beginnings):
    """All codes that begin so, and that of unparsable files, which stays."""
    return [r.code for r in all_rules() if r.code.startswith((*beginnings, "CL901"))]


def test_the_default_set():
    assert active() == DEFAULT


def test_select_replaces_the_default_set_but_for_unparsable_files():
    assert active(Selection(select=["CL102"])) == ["CL102", "CL901"]


def test_a_prefix_stands_for_all_codes_that_begin_with_it():
    assert active(Selection(select=["CL1"])) == named("CL1")
    assert "CL100" in named("CL1")


def test_extend_select_adds():
    assert active(Selection(extend_select=["CL100"])) == ["CL100", *DEFAULT]


def test_ignore_takes_away():
    assert active(Selection(ignore=["CL", "CL9"])) == []


def test_the_longer_of_two_entries_wins():
    assert active(Selection(select=["CL101"], ignore=["CL1"])) == ["CL101", "CL901"]
    assert active(Selection(select=["CL1"], ignore=["CL101"])) == [c for c in named("CL1") if c != "CL101"]


def test_of_equal_entries_ignore_wins():
    assert active(Selection(select=["CL101"], ignore=["CL101"])) == ["CL901"]


def test_the_command_line_goes_over_the_file():
    file = Selection(select=["CL102"], ignore=["CL101"])
    assert active(file, Selection(select=["CL101"])) == ["CL101", "CL901"]
    assert active(file, Selection(extend_select=["CL103"])) == ["CL102", "CL103", "CL901"]
    assert active(file, Selection()) == ["CL102", "CL901"]


def test_a_code_that_no_rule_has_is_an_error():
    with pytest.raises(SettingsError, match="'CL77'"):
        active(Selection(ignore=["CL77"]))


def test_codes_may_be_repeated_and_parted_by_commas():
    assert split_codes(["cl101, CL102", "CL103,"]) == ["CL101", "CL102", "CL103"]


@pytest.fixture
def project(tmp_path):
    def make(text, folder="."):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        path = tmp_path / folder / "pyproject.toml"
        path.write_text(text)
        return path

    return make


def test_a_table_is_read(project):
    path = project(
        '[tool.coalesce-lint]\nselect = ["CL1"]\nextend-select = []\nignore = ["CL103"]\nexclude = ["x/"]\n'
    )
    found = settings.load(path)
    assert found.layers == [Selection(select=["CL1"], ignore=["CL103"])]
    assert found.exclude == ["x/"]
    assert found.root == path.parent


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('selct = ["CL1"]', "unknown setting 'selct'"),
        ('select = "CL1"', "'select' in [tool.coalesce-lint] must be a list of strings"),
        ("exclude = [1]", "'exclude' in [tool.coalesce-lint] must be a list of strings"),
        (
            "assume-contiguous = true",
            "'assume-contiguous' in [tool.coalesce-lint] must be 'innermost' or 'none'",
        ),
        ("triton = 3.6", "'triton' in [tool.coalesce-lint] must be '3.6' or '3.9'"),
        ('arch = "gfx942"', "'arch' in [tool.coalesce-lint] must be an NVIDIA architecture"),
        (
            'element-types = "fp16"',
            "'element-types' in [tool.coalesce-lint] must be a table of element types",
        ),
        ('min-waste = "2"', "'min-waste' in [tool.coalesce-lint] must be a number of at least 1"),
        ("baseline = []", "'baseline' in [tool.coalesce-lint] must be a path"),
        ('output-format = "xml"', "'output-format' in [tool.coalesce-lint] must be 'concise'"),
        ("per-file-ignores = []", "'per-file-ignores' in [tool.coalesce-lint] must be a table of lists"),
    ],
)
def test_a_wrong_key_or_type_is_named(project, table, said):
    with pytest.raises(SettingsError) as caught:
        settings.load(project(f"[tool.coalesce-lint]\n{table}\n"))
    assert said in str(caught.value)
    assert "pyproject.toml" in str(caught.value)


FULL = """
[tool.coalesce-lint]
select = ["CL1"]
extend-select = ["cl401"]
ignore = ["CL103"]
exclude = ["x/"]
assume-contiguous = "none"
triton = "3.9"
arch = "sm_100a"
min-waste = 2.5
baseline = "known.json"
output-format = "json"

[tool.coalesce-lint.per-file-ignores]
"tests/" = ["cl1"]

[tool.coalesce-lint.element-types]
"*" = "fp16"
"*_idx" = "i64"
"""


def test_all_keys(project):
    path = project(FULL)
    found = settings.load(path)
    assert found.per_file_ignores == {"tests/": ["CL1"]}
    assert (found.assume_contiguous, found.triton, found.arch) == ("none", "3.9", "sm100a")
    assert (found.min_waste, found.output_format) == (2.5, "json")
    assert found.baseline == path.parent / "known.json"
    assert set(found.origins) == set(settings.KEYS)


def test_the_longest_pattern_of_element_types_counts(project):
    found = Assumptions.of(settings.load(project(FULL)))
    assert [found.type_of(p) for p in ("x_ptr", "page_idx")] == ["fp16", "i64"]
    assert Assumptions.of(Settings()).type_of("x_ptr") == "fp32"


def test_a_code_of_per_file_ignores_that_no_rule_has(project):
    found = settings.load(project('[tool.coalesce-lint.per-file-ignores]\n"*.py" = ["CL77"]\n'))
    with pytest.raises(SettingsError, match="CL77"):
        found.active(all_rules())


VALUES = [
    *([], ["CL1"], [1], "CL1", "", "none", "innermost", "3.6", "3.9", "sm90", "sm_80", "sm100a", "sm9", "\0"),
    *(0, 0.5, 1, 2.5, -1, True, float("inf"), "concise", "json", {}, {"x": "fp16"}, {"x": "float"}, {"x": 1}),
    *({"x": ["CL1"]}, {"x": [1]}, {"x": "CL1"}),
]


@pytest.mark.parametrize("key", [*settings.KEYS, "selct"])
def test_the_json_schema_takes_what_the_code_takes(project, key):
    """Each value of several types under each key, judged by a validator of schemas and by the reader."""
    import jsonschema

    schema = settings.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    taken = 0
    for value in VALUES:
        if value == float("inf"):
            continue  # TOML has it, JSON has not
        text = f"[tool.coalesce-lint]\n{key} = {toml(value)}\n"
        try:
            settings.load(project(text))
            accepted = True
        except SettingsError:
            accepted = False
        assert accepted == validator.is_valid({key: value}), text
        taken += accepted
    assert bool(taken) == (key in settings.KEYS)


def toml(value):
    """``value`` as TOML; JSON's texts and lists are TOML's too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


@pytest.mark.parametrize(
    "content",
    [
        b"[tool.coalesce-lint",
        b"[tool]\ncoalesce-lint = 3\n",
        b"tool = 5 # coalesce-lint\n",
        b"[tool.coalesce-lint]\nignore = [] # \xff\n",
        "[tool.coalesce-lint]\n".encode("utf-16"),
        b"# coalesce-lint\nx = " + b"[" * 100_000,
    ],
)
def test_a_broken_file_is_one_line(tmp_path, content):
    (tmp_path / "pyproject.toml").write_bytes(content)
    for read in (lambda: settings.load(tmp_path / "pyproject.toml"), lambda: settings.find([str(tmp_path)])):
        with pytest.raises(SettingsError) as caught:
            read()
        assert "\n" not in str(caught.value)
        assert "pyproject.toml" in str(caught.value)


def test_a_byte_order_mark_is_read_over(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xef\xbb\xbf[tool.coalesce-lint]\nignore = ['CL101']\n")
    assert settings.load(path).layers == [Selection(ignore=["CL101"])]


def test_the_nearest_file_with_a_table_counts(project, tmp_path):
    project('[tool.coalesce-lint]\nselect = ["CL101"]\n')
    project("[project]\nname = 'inner'\n", "a/b")
    (tmp_path / "a" / "b" / "k.py").touch()
    assert settings.find([str(tmp_path / "a" / "b" / "k.py")]).root == tmp_path
    project('[tool.coalesce-lint]\nselect = ["CL102"]\n', "a")
    assert settings.find([str(tmp_path / "a" / "b" / "k.py")]).root == tmp_path / "a"
    assert settings.find([str(tmp_path / "a" / "b" / "k.py"), str(tmp_path)]).root == tmp_path


def test_a_broken_file_that_is_not_about_us_is_passed_over(project, tmp_path):
    project("[[[")
    assert settings.find([str(tmp_path)]).source is None
