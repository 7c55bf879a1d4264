//! Documents, their approval, and the revisions of a project.
