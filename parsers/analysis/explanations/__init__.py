"""What the records of an explainer tell: errors of the network, calibration, scores, agreement and uncertainty."""
