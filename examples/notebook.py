"""Frames in a notebook, and the dashboard as a cell's output: paste the cells into Jupyter, started in the checkout.

    python -m examples.notebook
"""

# %%
from parsers import discover, open_run

runs = [open_run(source.path) for source in discover("app/demo/runs") if not source.ranks]
run = next(run for run in runs if "loss/train" in run.tags())

# %%  every recorded value: tag, step, wall_time, value, file, order
print(run.scalars.head())

# %%  the curves with only the last value written for each step, and a summary of the values left out
view = run.scalars_view(sessions="newest")
print(view.text)
print(view.frame.groupby("tag", observed=True)["value"].agg(["count", "min", "max"]))

# %%  a curve computed from tags
derived = run.derived("log10(loss/train) - mean(log10(loss/train), 20)")
print(derived.series.step[-3:], derived.series.value[-3:], derived.undefined)

# %%  damage is data
for problem in run.problems:
    print(problem.path, problem.offset, problem.kind, problem.text)

# %%  the dashboard inside the notebook
if __name__ != "__main__":
    from app import show

    show("app/demo/runs", page="scalars", height=800)
