//! Traps of a project of Python, with a real interpreter and pip. Its set-up installs only where there is no environment: what is
//! kept wrongly is not put right by it.

use symphony_core::warm::ColdReason;
use symphony_workspace::{CommitId, Generation, PackageMarks, Pristine};

use super::harness::{Ran, Warm, shell};
use crate::project::write;

/// A pip of another environment saves each one a pip of its own.
const SET_UP: &str = "test -d .venv && exit 0
python3 -m venv --without-pip .venv
../tools/bin/pip --python .venv/bin/python install -q --find-links wheels -r requirements.txt -e .";
const GATE: &str = ".venv/bin/python test.py";

/// Makes the archives of packages. `backend` builds the project itself, as setuptools would.
const WHEELS: &str = r#"
import os, zipfile
def wheel(folder, name, version, files):
    os.makedirs(folder, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {**files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in files)
    with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
wheel("wheels", "dep", "1.0", {"dep.py": "ONE = 1\n"})
wheel("wheels", "dep", "2.0", {"dep.py": "ONE = 2\n"})
wheel("wheels/other", "dep", "1.0", {"dep.py": "ONE = 2\n"})
wheel("wheels", "extra", "1.0", {"extra.py": "ONE = 1\n"})
wheel("wheels", "backend", "1.0", {"backend.py": open("backend.txt").read()})
"#;

const BACKEND: &str = r#"
import os, tomllib, zipfile
def made(directory, files):
    table = tomllib.load(open("pyproject.toml", "rb"))
    scripts = table["project"].get("scripts", {})
    info = "app-1.0.dist-info"
    files = {**files,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: app\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\n" + "".join(f"{k} = {v}\n" for k, v in scripts.items())}
    if table.get("tool", {}).get("compiled"):
        # what a compiler makes of the project's source
        files["native.py"] = open("src/native.c").read()
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in files)
    name = "app-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
def build_editable(directory, config_settings=None, metadata_directory=None):
    return made(directory, {"app.pth": os.path.abspath("src") + "\n"})
def build_wheel(directory, config_settings=None, metadata_directory=None):
    return made(directory, {"app/" + name: open("src/app/" + name).read() for name in ("__init__.py", "helper.py")})
"#;

const PYPROJECT: &str = "[build-system]
requires = ['backend==1.0']
build-backend = 'backend'

[project]
name = 'app'
version = '1.0'

[project.scripts]
app = 'app:main'
";
const TEST: &str = "import subprocess
import app, app.helper, dep
assert dep.ONE == 1
assert app.value() == 1
assert app.helper.ONE == 1
shown = subprocess.run(['.venv/bin/app'], capture_output=True, text=True, check=True).stdout
assert shown == '1\\n', shown
";

fn project() -> Warm {
    Warm::of(|root| {
        for (path, text) in [
            ("pyproject.toml", PYPROJECT),
            ("requirements.txt", "dep==1.0\n"),
            ("test.py", TEST),
            (
                "src/app/__init__.py",
                "def value():\n    return 1\ndef main():\n    print(value())\n",
            ),
            ("src/app/helper.py", "ONE = 1\n"),
            (".gitignore", ".venv/\n__pycache__/\n*.pyc\n"),
            ("make_wheels.py", WHEELS),
            ("backend.txt", BACKEND),
        ] {
            write(root.join(path), text);
        }
        let ran = shell(root, "python3 make_wheels.py && python3 -m venv ../tools");
        assert!(ran.passed, "Python 3.11 or newer is needed: {}", ran.output);
    })
}

fn test(warm: &Warm, checkout: &Pristine) -> Ran {
    let set_up = warm.sh(checkout, SET_UP);
    if !set_up.passed {
        return set_up;
    }
    warm.sh(checkout, GATE)
}

/// Makes a generation of a commit, in which a gate also ran this script.
fn generation(warm: &Warm, commit: &CommitId, gate: &str) -> Option<Generation> {
    let donor = warm.cold(commit);
    let set_up = warm.sh(&donor, SET_UP);
    assert!(set_up.passed, "{}", set_up.output);
    let after = PackageMarks::of(donor.path());
    let ran = warm.sh(&donor, &format!("{gate}\n{GATE}"));
    assert!(ran.passed, "{}", ran.output);
    warm.donate(&donor, &after)
}

const TRAPS: &[(&str, &str)] = &[
    (
        "a source that an editable package leads to",
        "sed -i 's/return 1/return 2/' src/app/__init__.py",
    ),
    (
        "a source of equal size whose compiled form is there",
        "sed -i 's/ONE = 1/ONE = 2/' src/app/helper.py",
    ),
    (
        "a source that is gone and whose compiled form is there",
        "rm src/app/helper.py",
    ),
    (
        "another version of a package",
        "echo dep==2.0 >requirements.txt",
    ),
    (
        "another package in the archive of the same name",
        "cp wheels/other/dep-1.0-py3-none-any.whl wheels/",
    ),
    (
        "a package that is no longer declared",
        ": >requirements.txt",
    ),
    (
        "a program that is no longer declared",
        "sed -i '/scripts/,$d' pyproject.toml",
    ),
    (
        "a program that starts something else",
        "sed -i s/app:main/app:value/ pyproject.toml",
    ),
    (
        "a package that was never declared",
        "sed -i '1i import extra' test.py",
    ),
];

#[test]
fn no_trap_passes_with_a_kept_environment() {
    let warm = project();
    // Without its source, Python imports a compiled file that is beside it.
    let compiled =
        ".venv/bin/python -m compileall -q -b src && .venv/bin/python -m compileall -q src";
    let generation = generation(&warm, &warm.base, compiled).unwrap();
    assert_eq!(generation.folders, [".venv"]);
    for (name, script) in TRAPS {
        let commit = warm.commit_by(script);
        let cold = test(&warm, &warm.cold(&commit));
        assert!(!cold.passed, "{name}: it passes cold");
        match warm.seeded(&generation, &commit) {
            Ok(seeded) => {
                let ran = test(&warm, &seeded);
                assert!(!ran.passed, "{name}: {}", ran.output);
            }
            Err(reason) => assert_eq!(reason, ColdReason::NothingKept, "{name}"),
        }
    }
    let commit = warm.commit_by("sed -i 's/return 1/return 2 - 1/' src/app/__init__.py");
    let seeded = warm.seeded(&generation, &commit).unwrap();
    assert!(seeded.path().join(".venv/bin/app").exists());
    let ran = test(&warm, &seeded);
    assert!(ran.passed, "an honest change: {}", ran.output);
}

#[test]
fn an_environment_that_a_gate_changed_is_not_kept() {
    let warm = project();
    for (name, script) in [
        (
            "a package that a gate installs",
            "../tools/bin/pip --python .venv/bin/python install -q --find-links wheels extra",
        ),
        (
            "an edit",
            "f=$(echo .venv/lib/python3*/site-packages/dep.py); echo 'TWO = 2' >>$f",
        ),
        (
            "an edit that keeps size and time",
            "f=$(echo .venv/lib/python3*/site-packages/dep.py); cp -p $f $HOME/kept; \
             sed -i 's/ONE = 1/ONE =1 /' $f; touch -r $HOME/kept $f",
        ),
        (
            "a file that each start runs",
            "touch $(echo .venv/lib/python3*/site-packages)/sitecustomize.py",
        ),
    ] {
        assert_eq!(generation(&warm, &warm.base, script), None, "{name}");
    }
}

#[test]
fn an_environment_with_something_made_of_the_projects_source_is_not_kept() {
    let warm = project();
    for (name, script) in [
        (
            "a module that is compiled into it",
            "printf '[tool]\\ncompiled = true\\n' >>pyproject.toml; echo 'TWO = 2' >src/native.c",
        ),
        (
            "a package that the project itself builds",
            "sed -i \"s/requires.*/requires = []/;s/^build-backend/backend-path = ['.']\\n&/\" pyproject.toml; \
             cp backend.txt backend.py",
        ),
    ] {
        let commit = warm.commit_by(script);
        assert_eq!(generation(&warm, &commit, "true"), None, "{name}");
    }
    let donor = warm.cold(&warm.base);
    let copied = SET_UP.replace("-e .", ".");
    let ran = warm.sh(&donor, &copied);
    assert!(ran.passed, "{}", ran.output);
    let after = PackageMarks::of(donor.path());
    assert_eq!(warm.donate(&donor, &after), None, "a copy of the source");
}
