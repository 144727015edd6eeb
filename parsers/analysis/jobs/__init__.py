"""What the frames of a job tell when ranks are compared: who is late, which link is slow, where the pipeline waits."""
