//! Images in a directory, and their capture from the tools of this machine.
