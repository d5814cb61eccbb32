import pytest

from coalesce_lint import settings
from coalesce_lint.findings import all_rules
from coalesce_lint.settings import Selection, Settings, SettingsError

DEFAULT = ["CL101", "CL102", "CL103", "CL105", "CL401", "CL402", "CL403", "CL901"]


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
    assert settings.split_codes(["cl101, CL102", "CL103,"]) == ["CL101", "CL102", "CL103"]


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
    ],
)
def test_a_wrong_key_or_type_is_named(project, table, said):
    with pytest.raises(SettingsError) as caught:
        settings.load(project(f"[tool.coalesce-lint]\n{table}\n"))
    assert said in str(caught.value)
    assert "pyproject.toml" in str(caught.value)


@pytest.mark.parametrize("text", ["[tool.coalesce-lint", "[tool]\ncoalesce-lint = 3\n"])
def test_a_broken_file_is_one_line(project, text):
    with pytest.raises(SettingsError) as caught:
        settings.load(project(text))
    assert "\n" not in str(caught.value)


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
