//! What a command leaves where an output is declared.

use ambit_ids::ByteCount;
use ambit_ports::sandbox::{DeclaredOutput, NamedCommand, OutputRefusal};

use crate::sandbox::bench::{declared, path};
use crate::sandbox::hostile::row::{Row, row};
use crate::sandbox::hostile::seen::Seen;

const LIMIT: u64 = 1 << 20;

/// The report is declared, and so is the directory that it is in.
fn leaving_a_report(command: &mut NamedCommand) {
    leaving_a_directory(command);
    command.outputs.push(declared("out/report.txt", LIMIT));
}

fn leaving_a_directory(command: &mut NamedCommand) {
    let limit = ByteCount::new(LIMIT);
    command.outputs = vec![DeclaredOutput { path: path("out"), limit, entries: Some(100) }];
}

/// Refused for this reason, both by its own name and as an entry of the directory.
fn refused_twice(seen: &Seen, why: OutputRefusal) -> bool {
    let refused = &seen.observed.refused_outputs;
    seen.exported.is_empty() && refused.len() == 2 && refused.iter().all(|refused| refused.why == why)
}

pub(super) static ROWS: [Row; 6] = [
    row(&["art-link"], |seen| refused_twice(seen, OutputRefusal::Link)).with(leaving_a_report),
    row(&["art-hardlink"], |seen| {
        let by_content = seen.exported.iter().filter(|(_, content)| content == "assert True\n").count();
        by_content == 2 || refused_twice(seen, OutputRefusal::HardLink)
    })
    .with(leaving_a_report),
    row(&["art-fifo"], |seen| refused_twice(seen, OutputRefusal::NotAFile)).with(leaving_a_report),
    row(&["art-huge"], |seen| refused_twice(seen, OutputRefusal::TooLarge)).with(leaving_a_report),
    row(&["art-names"], |seen| {
        let shown: Vec<String> = seen.exported.iter().map(|(path, _)| path.to_string()).collect();
        let plain = |name: &String| !name.chars().any(char::is_control);
        let whole = |name: &&[u8]| seen.exported.iter().any(|(path, _)| path.file_name() == *name);
        let names: [&[u8]; 4] = [b"a\nb", b"-rf", b"..name", b"\x1b[31m"];
        shown.len() == 4 && shown.iter().all(plain) && names.iter().all(whole)
    })
    .with(leaving_a_directory),
    row(&["art-dir-000"], |seen| {
        let told = seen.observed.refused_outputs.iter().any(|it| it.why == OutputRefusal::Unreadable);
        seen.exited() && (told || seen.exported.len() == 1)
    })
    .with(leaving_a_directory),
];
