//! The page that keeps what was measured: a section for each operation, between two marks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::failure::Failure;

const BEGIN: &str = "<!-- begin: written by `cargo xtask bench --update` -->";
const END: &str = "<!-- end -->";
const HEADING: &str = "\n### ";

/// Puts sections in their places between the marks of the page. `order` is the names of all operations; the section of one
/// that was not measured stays as it is, and that of a name that is none of them goes.
pub(super) fn rewrite(page: &Path, order: &[&str], sections: &[(&str, String)]) -> Result<(), Failure> {
    let text = fs::read_to_string(page).map_err(Failure::at("read", page))?;
    let written = replaced(&text, order, sections)
        .ok_or_else(|| Failure::new(format!("{} has no marks to write between", page.display())))?;
    fs::write(page, written).map_err(Failure::at("write", page))
}

fn replaced(text: &str, order: &[&str], sections: &[(&str, String)]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (kept, after) = rest.split_once(END)?;
    // A section begins with its heading, `### NAME: what it is`.
    let mut all: BTreeMap<&str, &str> =
        kept.split(HEADING).filter_map(|section| Some((section.split_once(':')?.0, section))).collect();
    for (name, section) in sections {
        all.insert(name, section.strip_prefix(HEADING)?);
    }
    let ordered: String = order
        .iter()
        .filter_map(|name| all.get(name))
        .map(|section| format!("{HEADING}{}\n", section.trim_end()))
        .collect();
    Some(format!("{before}{BEGIN}\n{ordered}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: [&str; 3] = ["spawn", "exec", "exec-again"];

    fn section(name: &'static str, what: &str) -> (&'static str, String) {
        (name, format!("\n### {name}: {what}\n\ntold: {what}.\n"))
    }

    #[test]
    fn only_what_was_measured_is_written_anew() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let all = ORDER.map(|name| section(name, "first"));
        let first = replaced(&page, &ORDER, &all).unwrap();
        let told = all.iter().map(|(_, text)| text.as_str()).collect::<String>();
        assert_eq!(first, format!("before\n{BEGIN}\n{told}\n{END}\nafter\n"));
        assert_eq!(replaced(&first, &ORDER, &all), Some(first.clone()));

        let one = replaced(&first, &ORDER, &[section("exec", "second")]).unwrap();
        let told = [section("spawn", "first"), section("exec", "second"), section("exec-again", "first")];
        assert_eq!(one, replaced(&page, &ORDER, &told).unwrap());
        // One that is new has its place, and one that is none any more has none.
        assert_eq!(replaced(&page, &ORDER, &told[2..]).unwrap().matches("###").count(), 1);
        let others = replaced(&first, &ORDER[1..], &[section("exec", "second")]).unwrap();
        assert!(!others.contains("### spawn") && others.contains("### exec-again"));
    }

    #[test]
    fn a_page_without_marks_is_left_alone() {
        assert_eq!(replaced("no marks", &ORDER, &[]), None);
        assert_eq!(replaced(&format!("{BEGIN}\n"), &ORDER, &[]), None);
    }
}
