"""The messages of MindInsight's debugger, by which training tells of itself while it runs and is told what to do."""
