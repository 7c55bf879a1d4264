//! Nothing of the machine but the two files has a say.

use std::process::Command;

use crate::golden::{Golden, judged};

#[test]
fn neither_environment_nor_home_nor_network_changes_a_verdict() {
    let golden = Golden::new();
    let control = golden.verify();
    assert_eq!(control.exit, 0);
    let words = [golden.dir(), "--trust-root".into(), golden.root(), "--json".into()];
    let mut odd = crate::golden::program();
    for name in ["HOME", "AMBIT_HOME", "AMBIT_ORG", "AMBIT_PROJECT", "XDG_DATA_HOME", "TMPDIR", "COLUMNS"] {
        odd.env(name, "/nonexistent/\u{1b}");
    }
    assert_eq!(judged(&odd.args(&words).current_dir("/").output().unwrap()).json, control.json);
    let mut alone = Command::new("unshare");
    alone.args(["--net", "--user", "--map-root-user", env!("CARGO_BIN_EXE_ambit-verify")]).args(&words);
    match alone.output() {
        Ok(output) if !output.stdout.is_empty() => assert_eq!(judged(&output).json, control.json),
        other => println!("skipped: NAMESPACES_UNAVAILABLE {other:?}"),
    }
}
