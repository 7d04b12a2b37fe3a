"""Checks of a release: the contents of packages, the notes, the extras, and the files of GitHub Actions."""

import re
import zipfile

import pytest
from makers.documented import ROOT, tool

package, release_notes = tool("package"), tool("release_notes")

FILES = {
    *(f"python/pfgen_fast/{name}" for name in ("__init__.py", "py.typed", "_core.pyi", "data/mini/Q01.json")),
    *("cpp/src/a.cpp", "CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"),
    *("tests/conftest.py", "bench/a.py", "docs/a.md"),
}
SDIST = FILES - {"bench/a.py"} | {"PKG-INFO"}
FOR_PROGRAMS_OF_OTHERS = {"engines", "integrations"}
CORE = "pfgen_fast/_core.cpython-311-x86_64-linux-gnu.so"
WHEEL = {name.removeprefix("python/") for name in FILES if name.startswith("python/")} | {CORE}
WHEEL |= {f"pfgen_fast-0.1.0.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}


@pytest.fixture(scope="module")
def declared():
    return package.tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


SURPLUS = "has files that do not belong to it: {}"


@pytest.mark.parametrize(
    ("kind", "problem", "names"),
    [
        ("sdist", "lacks {}", ("cpp/src/a.cpp", "python/pfgen_fast/_core.pyi", "CMakeLists.txt", "LICENSE")),
        ("sdist", SURPLUS, ("bench/a.py", ".gitignore", "python/pfgen_fast/_core.so", "tests/__pycache__/a.pyc")),
        ("wheel", "lacks {}", ("pfgen_fast/py.typed", "pfgen_fast/_core.pyi", "pfgen_fast/data/mini/Q01.json")),
        ("wheel", SURPLUS, ("tests/conftest.py", "pfgen_fast/a.cpp", "pfgen_fast.libs/libstdc++.so.6")),
        ("wheel", "has 0 compiled cores, not 1", (CORE,)),
        ("wheel", "has 2 compiled cores, not 1", (CORE.replace("311", "312"),)),
        ("wheel", "lacks its licence", ("pfgen_fast-0.1.0.dist-info/licenses/LICENSE",)),
    ],
)
def test_a_file_too_few_or_too_many_is_a_fault(kind, problem, names):
    check, whole = (package.check_sdist, SDIST) if kind == "sdist" else (package.check_wheel, WHEEL)
    check(whole, FILES)
    for name in names:
        with pytest.raises(package.Fault, match=f"^{re.escape(f'the {kind} {problem}'.format(name))}$"):
            check(whole ^ {name}, FILES | {".gitignore"})


def test_finished_packages_have_the_webassembly_module(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "tracked", lambda: FILES)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        for name in WHEEL:
            archive.writestr(name, "")
    with pytest.raises(SystemExit, match=r"the wheel lacks pfgen_fast/data/wasm/pfgen\.js, .+/pfgen\.wasm$"):
        package.main([str(tmp_path / "a.whl")])


def test_workflow_pages_and_makefile_agree_with_the_programs_of_a_release():
    names = (".github/workflows/release.yml", "Makefile", "docs/releasing.md", "README.md", "README.ja.md")
    release, makefile, page, *readmes = ((ROOT / name).read_text(encoding="utf-8") for name in names)
    programs = re.findall(r"run: make .+|wheelhouse .+|tools/package.+| -size .+", release)
    assert programs == ["run: make wasm package", "wheelhouse *.tar.gz", "tools/package.py dist/*"]
    assert re.search(r"^release-check:.*\n.+\n.* wasm package$", makefile, re.MULTILINE)
    assert re.search(r"^## What only a person can do, once\n\n1\. .+\n2\. .+\n3\. .+\n\n##", page, re.MULTILINE)
    for text in readmes:
        assert package.DOWNLOAD.findall(text) == re.findall(r"^pfgen-fast .*(examples/\S+)", text, re.MULTILINE)


@pytest.fixture
def released(tmp_path):
    (tmp_path / "js").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (tmp_path / "js" / "package.json").write_text('{\n  "version": "1.2.0",\n}\n')
    notes = "## [1.2.0] - 2026-11-01\n\n### Added\n\n* New.\n\n## [1.1.0] - 2026-10-01\n\n* Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n{notes}")
    return tmp_path


def test_the_notes_are_the_section_of_the_version(released):
    assert release_notes.notes(released, ["v1.2.0"]) == release_notes.notes(released, []) == "### Added\n\n* New.\n"
    with pytest.raises(ValueError, match=r"the tag is v9\.9\.9, but .+: expected v1\.2\.0"):
        release_notes.notes(released, ["v1.2.0", "v9.9.9"])


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("pyproject.toml", "1.2.0", "1.3.0", "the tag is v1.2.0, but pyproject.toml declares version 1.3.0"),
        ("js/package.json", "1.2.0", "1.1.0", "js/package.json names version 1.1.0"),
        ("CHANGELOG.md", "[1.2.0] - 2026-11-01", "[1.2.0]", "no section"),
        ("CHANGELOG.md", "### Added\n\n* New.", "", "says nothing of version 1.2.0"),
    ],
)
def test_versions_that_disagree_stop_a_release(released, name, old, new, problem):
    path = released / name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ValueError, match=re.escape(problem)):
        release_notes.notes(released, ["v1.2.0"] if "tag" in problem else [])


def test_the_extra_all_has_the_packages_of_all_features_except_models(declared):
    extras = declared["project"]["optional-dependencies"]
    named = set(re.fullmatch(r"pfgen-fast\[(.+)\]", *extras["all"])[1].split(","))
    assert named <= set(extras)
    package = ROOT / "python" / "pfgen_fast"
    paths = [path for path in package.rglob("*.py") if FOR_PROGRAMS_OF_OTHERS.isdisjoint(path.parts)]
    asked = {name for path in paths for name in re.findall(r'extra="([\w-]+)"', path.read_text(encoding="utf-8"))}
    assert len(asked) > 4
    assert asked - named <= {"transformers", "vllm"}
    page = (ROOT / "docs" / "reference" / "extras.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.+?) \|", page, flags=re.MULTILINE)
    assert sorted(re.findall(r"`([\w-]+)`", " ".join(cells))) == sorted(extras)
    assert len(extras) <= 28
    texts = [path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]]
    installed = re.findall(r"pip install 'pfgen-fast\[([\w,-]+)\]'", "".join(texts))
    assert len(installed) > 10
    assert {name for names in installed for name in names.split(",")} <= set(extras)


def test_every_python_that_is_supported_gets_a_wheel_and_a_test_and_javascript_one(declared):
    classifiers = declared["project"]["classifiers"]
    pythons = [name.rpartition(" ")[2] for name in classifiers if re.search(r":: 3\.\d+$", name)]
    built = declared["tool"]["cibuildwheel"]["build"].split()
    assert {f"cp{python.replace('.', '')}-*" for python in pythons} <= set(built)
    for name in ("ci", "release"):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        assert f"python: {pythons}".replace("'", '"') in text
        assert ("wasm-test" in text) == (name == "ci")
    assert "make wasm-test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
