"""What the documentation says is true of the code: commands, tables, paths, Python that runs."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

from learnloop import checks
from learnloop.cli.main import app
from learnloop.control.sensors import parse_feedback
from learnloop.environments import ENVIRONMENTS
from learnloop.llm.opening import FORMS
from learnloop.methods import METHODS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMMAND = get_command(app)


def blocks(page, language):
    """The fenced blocks of a page that are in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def inline_code(page):
    """All that stands between single backticks, outside of blocks."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", prose)


def section(page, title):
    """The text from a heading to the next one of its level."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page.read_text(), re.DOTALL | re.MULTILINE)
    return found.group(1)


def rows(text):
    """The cells of the first table's rows, without its head."""
    table = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE).group()
    lines = [line.strip("|").split("|") for line in table.splitlines()]
    return [[cell.strip() for cell in cells] for cells in lines[2:]]


def code_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def whole_commands():
    """Every command of a block, as a person would type it."""
    for page in PAGES:
        for block in blocks(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("learnloop "):
                    yield pytest.param(line, id=f"{page.stem}: {' '.join(line.split())}")


def named_commands():
    """Every command in running text, where arguments may be left out."""
    for page in PAGES:
        for code in inline_code(page):
            if code.startswith(("learnloop ", ".venv/bin/learnloop ")):
                yield pytest.param(code, id=f"{page.stem}: {code}")


def resolve(line):
    """The command that a line names, its name, and the words that are left for it."""
    words = shlex.split(line, comments=True)[1:]
    command, name = COMMAND, "learnloop"
    while words and hasattr(command, "commands"):
        name = words.pop(0)
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
    return command, name, words


@pytest.mark.parametrize("line", list(whole_commands()))
def test_a_command_of_a_block_can_be_typed_as_it_stands(line):
    command, name, words = resolve(line)
    with command.make_context(name, words) as context:
        assert context.info_name == name


@pytest.mark.parametrize("line", list(named_commands()))
def test_a_command_in_the_text_exists_with_its_options(line):
    command, _, words = resolve(line)
    known = {option for param in command.params for option in param.opts + param.secondary_opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_options_that_stand_alone_in_the_text_exist():
    own = {"--help", "--version"}
    for command in (COMMAND, *_leaves(COMMAND)):
        for param in command.params:
            own |= {*param.opts, *param.secondary_opts}
    for page in PAGES:
        alone = {code.split()[0] for code in inline_code(page) if code.startswith("--")}
        assert alone <= own, page.name


def test_the_docs_show_commands_at_all():
    assert len(list(whole_commands())) > 8
    assert len(list(named_commands())) > 5


def test_the_python_of_the_readme_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(README, "python")
    exec(compile(code, str(README), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out in blocks(README, "text")


def test_the_layers_are_those_that_are_enforced():
    table = rows(section(ROOT / "docs" / "architecture.md", "Layers"))
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [code_in(modules) for _, modules in table] == [
        [module.strip() for module in layer.split("|")] for layer in contract
    ]
    assert [int(level) for level, _ in table] == list(range(len(contract)))[::-1]


def _package(requirement):
    return re.match(r"[\w.-]+", requirement).group()


def test_every_runtime_dependency_is_explained():
    named = [code_in(row[0])[0] for row in rows(section(_dependencies(), "Runtime"))]
    assert named == [_package(each) for each in PROJECT["project"]["dependencies"]]


def test_every_extra_is_explained():
    named = [
        (*code_in(row[0]), *code_in(row[1])) for row in rows(section(_dependencies(), "Extras"))
    ]
    extras = PROJECT["project"]["optional-dependencies"].items()
    assert named == [(name, _package(each)) for name, packages in extras for each in packages]


def test_every_development_dependency_is_explained():
    named = [code_in(row[0])[0] for row in rows(section(_dependencies(), "Development"))]
    assert named == [_package(each) for each in PROJECT["dependency-groups"]["dev"]]


def _dependencies():
    return ROOT / "docs" / "dependencies.md"


def test_the_readme_has_every_form_of_a_model_name():
    named = [code_in(name)[0] for name, _ in rows(_subsection("Model names"))]
    assert named == FORMS.split(", ")


def test_the_readme_has_every_method_and_environment():
    named = re.findall(r"^\| `(\w+)`", section(README, "How it works"), re.MULTILINE)
    assert set(named) >= set(METHODS)
    assert set(inline_code(README)) >= set(ENVIRONMENTS)


def test_the_words_for_feedback_are_understood():
    for words, _ in rows(_subsection("What feedback arrives")):
        parse_feedback(code_in(words)[0])


def _subsection(title):
    return re.search(rf"^### {title}\n(.*?)(?=^#+ |\Z)", README.read_text(), re.S | re.M).group(1)


def test_there_are_eleven_rules_and_each_names_a_test_that_exists():
    table = rows(section(ROOT / "docs" / "architecture.md", "The rules"))
    assert [int(row[0]) for row in table] == list(range(1, 12))
    for number, _, held_by in table:
        tests = [code for code in code_in(held_by) if "::" in code]
        assert tests
        for test in tests:
            path, _, name = test.partition("::")
            assert name == f"test_rule_{number}"
            assert f"def {name}_" in (ROOT / path).read_text()


def test_the_checks_that_are_named_exist():
    source = "".join(path.read_text() for path in Path(checks.__file__).parent.glob("*.py"))
    for page in PAGES:
        for name in inline_code(page):
            if re.fullmatch(r"check_\w+", name):
                assert f"def {name}(" in source, f"{page.name}: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    for link in links:
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (page.parent / path) if path else page
        assert target.is_file(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert anchor in {heading.lower().replace(" ", "-") for heading in headings}, link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    for code in inline_code(page):
        path = code.partition("::")[0]
        if re.fullmatch(r"(src|tests|docs|studies|benchmarks|results|\.ci)/[\w./-]+", path):
            assert (ROOT / path).exists() or "NAME" in path, code


def _leaves(command):
    for child in getattr(command, "commands", {}).values():
        yield child
        yield from _leaves(child)
