//! What the verifier is built from.

use std::process::Command;

fn tree(package: &str) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--offline",
        "--locked",
        "--edges",
        "normal",
        "--prefix",
        "none",
        "--package",
        package,
    ]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn neither_sandbox_nor_model_nor_network_nor_database_is_in_it() {
    const NEVER: [&str; 12] = [
        "ambit-sandbox-linux",
        "ambit-sandbox-oci",
        "ambit-agent-models",
        "ambit-agent-scripted",
        "ambit-store-sqlite",
        "ambit-signer-file",
        "rusqlite",
        "libsqlite3-sys",
        "reqwest",
        "hyper",
        "rustls",
        "mio",
    ];
    let has = |tree: &str, name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    let (own, whole) = (tree("ambit-verify"), tree("ambit"));
    for name in NEVER {
        assert!(!has(&own, name), "{name} is in\n{own}");
        assert!(has(&whole, name), "the control: {name} is in the program for everybody");
    }
}
