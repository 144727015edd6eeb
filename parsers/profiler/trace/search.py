import numpy as np
def find(trace, text, tracks, shortest, limit):
    ok=[i for i,n in enumerate(trace.names) if (n in text if isinstance(text,set) else text.lower() in n.lower())]
    r=np.flatnonzero(np.isin(trace.slices.name,ok)&(trace.slices.duration>=shortest))
    return r[np.argsort(trace.slices.start[r],kind="stable")][:limit]
