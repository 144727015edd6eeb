"""The demo: runs of one project, recorded or simulated, and what there is to see in them."""
