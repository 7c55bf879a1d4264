//! Whether one pattern is within others.

use ambit_ids::{PathPattern, PathSet, RepoPath};

/// Whether everything that `inner` matches is matched by one of `outer`, as far as that can be seen. Where it cannot be
/// seen the answer is no.
pub(crate) fn is_within(inner: &PathPattern, outer: &PathSet) -> bool {
    outer.0.iter().any(|outer| is_seen_within(inner, outer))
}

fn is_seen_within(inner: &PathPattern, outer: &PathPattern) -> bool {
    if inner == outer || outer.as_str() == "**" {
        return true;
    }
    if is_literal(inner.as_str()) {
        return inner.as_str().parse::<RepoPath>().is_ok_and(|path| outer.matches(&path));
    }
    // `a/b/**` holds whatever has a component below `a/b`.
    let directory =
        outer.as_str().strip_suffix("**").filter(|above| above.ends_with('/') && is_literal(above));
    directory.is_some_and(|above| inner.as_str().starts_with(above))
}

fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])
}
