"""`make test-frameworks`: runs every training of this folder and checks what its adapter recorded.   --store keeps the files

Then it looks for profiled steps, and compares the landscapes that the examples compute with each framework.

MINDSCOPE_FRAMEWORKS and MINDSCOPE_MINDSPORE are the Pythons with the frameworks; without the second MindSpore is left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from parsers import open_run
from tests.frameworks.comparison import STORED, differences
from tests.frameworks.landscapes import AS_FAR_AS, PYTHONS, distance, landscape_by, network

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {
    "torch_training": ("torch", "MINDSCOPE_FRAMEWORKS"), "keras_training": ("keras", "MINDSCOPE_FRAMEWORKS"),
    "lightning_training": ("lightning", "MINDSCOPE_FRAMEWORKS"),
    "huggingface_training": ("transformers", "MINDSCOPE_FRAMEWORKS"),
    "mindspore_training": ("mindspore", "MINDSCOPE_MINDSPORE"),
}  # fmt: skip


def run_script(python: str, root: Path, script: str, *arguments: str) -> None:
    """Run a script of this folder in a Python with a framework and, below root, mindscope_record."""
    site = root / "site"
    site.mkdir(exist_ok=True)
    if not (site / "mindscope_record").exists():
        (site / "mindscope_record").symlink_to(ROOT / "parsers" / "recording")
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([python, str(Path(__file__).parent / script), *arguments], cwd=root, env=environment, check=True)


def recorded(script: str, framework: str, python: str, root: Path) -> Path:
    """Run a training below root and return the directory of its run, named after framework and version."""
    run_script(python, root, "record_golden.py", str(Path(__file__).parent / f"{script}.py"), str(root / framework))
    ask = f"from importlib.metadata import version; print(version('{framework}').partition('+')[0])"
    version = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    return (root / framework).rename(root / f"{framework}-{version}")


def store(run: Path) -> None:
    """Keep the files of a run, without checkpoints, in place of those of other versions."""
    for old in STORED.glob(f"{run.name.rpartition('-')[0]}-*"):
        shutil.rmtree(old)
    target = STORED / run.name
    target.mkdir(parents=True)
    for path in run.iterdir():
        if path.is_file():
            shutil.copy(path, target)


def unprofiled(root: Path) -> int:
    """Profile steps with each framework; return how many profiles do not have them.

    On a CPU MindSpore does not record steps, only operators.
    """
    failed = 0
    for framework, frame, wanted in (("torch", "steps", 3), ("mindspore", "kernels", None)):
        if python := os.environ.get(PYTHONS[framework]):
            run = root / f"{framework}_profile"
            run_script(str(ROOT / python), root, "profiled_steps.py", framework, str(run))
            found = [len(getattr(profile, frame)) for profile in open_run(run).profile.values()]
            is_right = len(found) == 1 and found[0] > 0 and wanted in (None, found[0])
            failed += not is_right
            print(f"profile of {framework}: {found} {frame}, expected {[wanted] if wanted else 'some'}", flush=True)
    return failed


def disagreeing(root: Path) -> int:
    """Compute the landscape of the examples by each framework; return how many differ from that by numpy."""
    run = network(root / "landscapes")
    wanted = landscape_by("numpy", sys.executable, run, root / "numpy_landscape")
    failed = 0
    for framework, variable in PYTHONS.items():
        if python := os.environ.get(variable):
            found = distance(landscape_by(framework, str(ROOT / python), run, root / f"{framework}_landscape"), wanted)
            failed += found > AS_FAR_AS
            print(f"landscape by {framework}: {found:.2g} from that by numpy, expected up to {AS_FAR_AS:.0e}", flush=True)
    return failed


def unplanned(root: Path) -> int:
    """Compare checkpoints and plans of landscapes with those of SummaryCollector; return 1 if they differ."""
    python = os.environ.get(PYTHONS["mindspore"])
    if not python:
        return 0
    try:
        run_script(str(ROOT / python), root, "landscape_checkpoints.py", str(root / "checkpoints"))
    except subprocess.CalledProcessError:
        return 1
    print("checkpoints of landscapes: as those of SummaryCollector", flush=True)
    return 0


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as made:
        for script, (framework, variable) in SCRIPTS.items():
            python = os.environ.get(variable)
            if not python:
                print(f"{framework}: left out, {variable} names no Python")
                continue
            run = recorded(script, framework, str(ROOT / python), Path(made))
            found = differences(run)
            failed += bool(found)
            print("\n".join([f"{run.name}: {'differs' if found else 'as handed over'}", *found]), flush=True)
            if "--store" in sys.argv and not found:
                store(run)
        failed += unprofiled(Path(made)) + disagreeing(Path(made)) + unplanned(Path(made))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
