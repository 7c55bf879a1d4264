"""Keeps a process that decides to itself, while code that it does not trust runs in others of the same user."""

from __future__ import annotations

import ctypes
import os
import sys

PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 3, 4, 36


class Unshielded(Exception):
    """This process is open to others. The message says how."""


def shield() -> None:
    """Sees that no module comes from elsewhere than the standard library, and closes this process to others.

    Isolated and without `site`, neither the working directory, nor the environment, nor sitecustomize, nor a .pth file
    adds a place for modules. A process that is not dumpable keeps its memory and its descriptors from all others of its
    user. They can still kill or stop it, which is no way to end with status 0; and root may do what it likes, but in a
    sandbox nobody is root. Whatever a child leaves behind becomes a child of this process, so that none gets lost.
    """
    if not (sys.flags.isolated and sys.flags.no_site):
        raise Unshielded("Python must run as `python3 -I -S -B`")
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError, TypeError):
        raise Unshielded("only Linux can close a process to the others of its user") from None
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise Unshielded("the kernel left this process open to others")
    if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise Unshielded("the kernel gives this process nothing that its children leave behind")


def is_alone() -> bool:
    """Whether no process is left of all that a shielded process has started, and of what those have."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
        return False
    except ChildProcessError:
        return True
