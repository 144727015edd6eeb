"""Loss landscapes from the checkpoints of any framework, computed by a function of the user in worker processes.

    from app.landscapes import LandscapeOptions, compute

    compute(LandscapeOptions(run="output/run1", script="loss.py", out="output/run1", jobs=4))

`chosen` finds the checkpoints, `names` the weights that vary, `planes` writes base weights and directions for workers to map,
`workers` runs the script in processes of their own, `points_file` keeps what is finished, `running` puts it together and writes
a MindSpore summary file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from app.landscapes.options import LandscapeOptions
    from app.landscapes.running import ComputedLandscapes, compute
else:  # workers, which import this package, need neither Dash nor pandas
    __getattr__, __dir__ = names_on_first_use(
        __name__, {"app.landscapes.options": ("LandscapeOptions",), "app.landscapes.running": ("ComputedLandscapes", "compute")}
    )

__all__ = ["ComputedLandscapes", "LandscapeOptions", "compute"]
