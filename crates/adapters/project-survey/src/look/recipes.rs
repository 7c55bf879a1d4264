//! Targets of make and recipes of just, for projects that show nothing closer.

use super::Look;
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate};
use crate::listing::Listing;

/// What is looked for, from cheap to dear.
const WANTED: [(&str, GateKind); 3] =
    [("lint", GateKind::Syntax), ("check", GateKind::Build), ("test", GateKind::Test)];

pub(super) fn make(listing: &Listing) -> Option<Look> {
    let file = listing.first_of(&["GNUmakefile", "makefile", "Makefile"])?;
    look(listing, Ecosystem::Make, ImageTool::Make, file)
}

pub(super) fn just(listing: &Listing) -> Option<Look> {
    let file = listing.first_of(&["justfile", "Justfile", ".justfile"])?;
    look(listing, Ecosystem::Just, ImageTool::Just, file)
}

fn look(listing: &Listing, ecosystem: Ecosystem, tool: ImageTool, file: &str) -> Option<Look> {
    let mut look = Look::new(ecosystem, file);
    look.tell_unread(listing, file);
    look.parts.protected.insert(file.to_owned());
    let text = listing.text(file)?;
    for (target, kind) in WANTED {
        if text.lines().any(|line| heads(line, target)) {
            let program = tool.as_str();
            let (name, summary) = (format!("{program}.{target}"), format!("`{program} {target}` passes."));
            look.parts.gates.push(ProposedGate::new(ecosystem, kind, &name, &summary, &[program, target]));
        }
    }
    if look.parts.gates.is_empty() {
        return None;
    }
    look.parts.tools.extend([tool, ImageTool::Sh]);
    look.remarks
        .push(format!("what {file} calls cannot be seen: add the programs that it needs to the image"));
    Some(look)
}

/// Whether a line begins a rule of this name: the name, what it depends on or takes, and a colon that assigns nothing.
fn heads(line: &str, target: &str) -> bool {
    let Some(rest) = line.strip_prefix('@').unwrap_or(line).strip_prefix(target) else { return false };
    let Some((before, after)) = rest.split_once(':') else { return false };
    let is_assigned = before.trim_start().starts_with('=') || after.trim_start_matches(':').starts_with('=');
    (before.is_empty() || before.starts_with(' ')) && !is_assigned
}
