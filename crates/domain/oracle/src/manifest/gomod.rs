use std::collections::BTreeSet;

use ambit_ids::RepoPath;

use super::dependency::{Dependency, stays_inside};

/// The modules that a `go.mod` requires, those that it requires indirectly among them, and what it replaces.
///
/// A line that is marked `// indirect` counts: the mark is a comment, and a module so marked can be imported.
pub(super) fn go_mod(path: &RepoPath, text: &str) -> BTreeSet<Dependency> {
    let mut found = BTreeSet::new();
    let mut block = None;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("").trim();
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        if first == ")" {
            block = None;
            continue;
        }
        let opens = line.ends_with('(');
        let directive = block.unwrap_or(first);
        let rest: Vec<&str> =
            if block.is_some() { line.split_whitespace().collect() } else { words.collect() };
        if opens && block.is_none() {
            block = Some(first.trim_end_matches('('));
        } else {
            found.extend(dependency(path, directive, &rest));
        }
    }
    found
}

fn dependency(path: &RepoPath, directive: &str, words: &[&str]) -> Option<Dependency> {
    let module = words.first()?.trim_matches(['"', '`']);
    match directive {
        "require" | "tool" => Some(Dependency::registered(module)),
        "replace" => {
            let arrow = words.iter().position(|word| *word == "=>")?;
            let target = words.get(arrow + 1)?.trim_matches(['"', '`']);
            let local = target.starts_with('.') && stays_inside(path, target);
            (!local).then(|| Dependency::sourced(module, target))
        }
        _ => None,
    }
}
