"""The keys that the states of pages have, beside that of the chosen runs, by page. A page ignores those of another one."""

from __future__ import annotations

from collections.abc import Mapping

KEYS_OF_PAGE: Mapping[str, frozenset[str]] = {
    page: frozenset(keys.split())
    for page, keys in {
        "start": "record",
        "runs": "q",
        "overview": "of",
        "board": "board",
        "scalars": (
            "band base by cards columns every fold full group height hide insights key line link log mode name order "
            "outliers page pan pin q right rows smooth sort table tag tags threshold unfold view x zoom"
        ),
        "histograms": (
            "apart at beside cards colour columns first fold full height hide key link order page pin q scale tag tags "
            "text unfold view wanted x zoom"
        ),
        "images": (
            "a at b bright cards columns compare contrast each every fold full height how index key link order page pin q "
            "scale size split step tags unfold"
        ),
        "tensors": (
            "at cards columns digits dims each first fold format full height hide hist how key link minus minus_place "
            "minus_run minus_step name of order page pin place q rel step tag tags unfold view x"
        ),
        "landscape": "at final full lines map mode of opacity over same sheet string view",
        "graph": (
            "at by camera flag flagged fold full graph hide into log node of open other page paint pan part q regex side "
            "simple sizes trace view with zoom"
        ),
        "dataset": "full node rows zoom",
        "text": "at cards columns each every fold full height key link order page pin q step tags unfold wrap",
        "model_lineage": "brush col colour differ filter hide linear log mark node pin sort together view without x y",
        "data_lineage": "brush col colour differ filter hide linear log mark node pin sort together view without x y",
        "optimisation": "act by colour differ log rest setting target together view",
        "tuning": "by full show sort study target trial x y",
        "two_runs": "of one other",
        "job": "cause group link of rank session slow step with",
        "profile_overview": "bandwidth devices full group model_flops of parameters peak rank session step tokens with",
        "timeline": (
            "also at axis by called clip clocks colour filter first fold from group height hide id in mark near next of "
            "open order other over part pin q range rank regex session shortest slice source span step stream tab tall to "
            "with zero"
        ),
        "operators": (
            "amount bandwidth by chart core devices form full group in model_flops of open parameters peak q rank scope "
            "session sort step tokens use view with"
        ),
        "shapes": "by full group of op q rank scale session shape step type unit with",
        "steps": "from full group of rank session step to trace unit with",
        "memory": (
            "at by capacity clock column component device from full graph group node of part rank session step to view "
            "with"
        ),
        "preparation": "column from full group next of op rank session step to with",
        "communication": (
            "by class full group hccs held how inner kind measure name next of op pcie rank rdma session slow small "
            "small_rdma sort step with"
        ),
        "ranks": "aligned alone full group lines of pick rank rows session stage step with zoom",
        "cluster": "from full group metric of order picked rank rows session step to with",
        "pipeline": "align from full group m of rank session stage step to with",
        "strategy": (
            "camera file full graph group hide metric node of open other page pan picked rank session simple stage step "
            "with zoom"
        ),
        "two_jobs": "by full group metric of rank session step with",
        "advice": "group of rank session step with",
        "debugger": (
            "box camera digits dims files format full graph hide how io kind lines lq mark minus_place minus_run "
            "minus_step near node of only_graph only_rank only_step only_watch open other page pan place q rank regex row "
            "show simple sort stat step tab tag tolerance tree values with with_io with_mark with_rank with_row with_run "
            "with_step zoom"
        ),
        "first_cause": "full io kind node of rank step with with_rank with_step",
        "two_dumps": "find full io node of rank show step tol with with_rank with_step",
        "saliency": "alpha colours explainer label large of outcome over p predicted q sample scale sd shown sort t truth",
        "confusion": (
            "bins by cell cells explainer full kind label of outcome p predicted q question sample sd show sort t truth "
            "with"
        ),
        "scores": "by explainer full label of one order outcome p predicted q sample sd show side sort t truth weight",
        "counterfactual": "empty explainer full label layer of outcome p predicted q sample sd shown sort t truth",
        "uncertainty": "explainer full label of outcome p predicted q sample sd sort t truth",
        "guides": "of q symptom with",
        "conversion": "camera colour full graph hide model node of open other page pan simple with zoom",
    }.items()
}  # fmt: skip
"""Keys by the name of the page; tests/layouts/runs/test_state_keys.py finds them in scripts and modules of the pages."""
STATE_KEYS = tuple(sorted(frozenset().union(*KEYS_OF_PAGE.values())))
"""Keys of any page."""
