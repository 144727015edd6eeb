"""What `mindscope landscape` leaves beside the summary file that it writes: points while it computes, facts when it is done."""
