"""Prints the digest of the source tree in a directory, from the description of its encoding alone."""

import hashlib
import os
import stat
import sys


def digest(data):
    return hashlib.sha256(data).hexdigest()


def directory_object(path):
    lines = [b"ambit tree 1\n"]
    for name in sorted(os.listdir(path)):
        full = os.path.join(path, name)
        mode = os.lstat(full).st_mode
        if stat.S_ISLNK(mode):
            kind, data = "link", os.readlink(full)
        elif stat.S_ISDIR(mode):
            kind, data = "dir", directory_object(full)
        else:
            kind = "exec" if mode & 0o100 else "file"
            with open(full, "rb") as file:
                data = file.read()
        lines.append(f"{kind} {digest(data)} {len(data)} {len(name)} ".encode() + name + b"\n")
    return b"".join(lines)


print("sha256:" + digest(directory_object(os.fsencode(sys.argv[1]))))
