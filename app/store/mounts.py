"""The kind of file system that a directory is on, as Linux tells it; elsewhere nothing is known."""

from __future__ import annotations

import os
import re

MOUNTS = "/proc/self/mountinfo"
NETWORK = {
    "nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB", "smbfs": "SMB", "lustre": "Lustre", "fuse.sshfs": "sshfs",
    "ceph": "Ceph", "fuse.glusterfs": "GlusterFS", "beegfs": "BeeGFS", "gpfs": "GPFS",
}  # fmt: skip
"""Types of file systems that several machines write to -> their names."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


def network_of(path: str, mounts: str = "") -> str:
    """Return the name of the network file system that a directory is on; "" for a local one, or if that cannot be known.

    mounts, by default MOUNTS, is a file in the form of proc(5), /proc/[pid]/mountinfo: the fifth field is where something is
    mounted, and after the field "-" comes its type. Of mounts at one place the last one counts.
    """
    try:
        with open(mounts or MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    real, best, kind = os.path.realpath(path), "", ""
    for line in lines:
        fields = line.split(" ")
        if "-" not in fields[6:] or len(fields) < 8:
            continue
        place = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[4])
        if (real == place or real.startswith(place.rstrip("/") + "/")) and len(place) >= len(best):
            best, kind = place, fields[fields.index("-", 6) + 1]
    return NETWORK.get(kind, "")
