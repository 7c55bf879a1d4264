//! What editors and shells get along with the program, and what is told of a slip.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rig::{Project, diligent};

fn ambit(words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_ambit")).args(words).env("HOME", "/nonexistent").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_schemas_that_are_written_are_the_committed_ones() {
    let dir = tempfile::tempdir().unwrap();
    let committed = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../schemas");
    let (code, _, err) = ambit(&["schema", "write", "--out", dir.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let named = |dir: &Path| {
        let mut names: Vec<_> =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let names = named(dir.path());
    if std::env::var_os("AMBIT_WRITE_SCHEMAS").is_some() {
        names.iter().for_each(|name| {
            std::fs::copy(dir.path().join(name), committed.join(name)).unwrap();
        });
    }
    assert_eq!(names, named(&committed));
    for name in names {
        let read = |dir: &Path| std::fs::read_to_string(dir.join(&name)).unwrap();
        assert_eq!(
            read(dir.path()),
            read(&committed),
            "write them anew with AMBIT_WRITE_SCHEMAS=1: {name:?}"
        );
    }
}

#[test]
fn a_completion_is_a_script_of_its_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = ambit(&["completion", shell]);
        assert_eq!(code, 0);
        assert!(script.contains("revise"), "{shell}");
    }
    let (_, script, _) = ambit(&["completion", "bash"]);
    // The shell itself: after `ambit revision ` it offers the verbs of revisions.
    let asked =
        "COMP_WORDS=(ambit revision ''); COMP_CWORD=2; _ambit ambit '' revision; echo \"${COMPREPLY[@]}\"";
    // As a file: it is longer than one argument may be.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("asked.bash");
    std::fs::write(&file, format!("{script}\n{asked}\n")).unwrap();
    let told = Command::new("bash").arg(&file).output();
    let Ok(told) = told else {
        println!("skipped: BASH_ABSENT completion");
        return;
    };
    let offered = String::from_utf8(told.stdout).unwrap();
    for verb in ["import", "log", "show", "diff", "eligible"] {
        assert!(offered.split_whitespace().any(|word| word == verb), "{offered}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let dir = tempfile::tempdir().unwrap();
    let (code, ..) = ambit(&["man", "--out", dir.path().to_str().unwrap()]);
    assert_eq!(code, 0);
    for page in ["ambit.1", "ambit-run.1", "ambit-run-start.1", "ambit-image-capture.1", "ambit-doctor.1"] {
        let text = std::fs::read_to_string(dir.path().join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
}

#[test]
fn a_slip_in_a_name_is_told_with_the_name_that_was_meant() {
    let project = Project::new();
    project.start("greeting", &diligent("finish")).well();
    for (words, meant) in [
        (&["run", "show", "greetin"][..], "greeting"),
        (&["gate", "show", "greeting", "unti"], "unit"),
        (&["blueprint", "show", "greter"], "greeter"),
        (&["profile", "show", "laptop-v2"], "laptop-v1"),
        (&["schema", "show", "Blueprnt"], "Blueprint"),
        (&["catalog", "pin", "catalog.yaml", "--image", "tolos"], "tools"),
    ] {
        let answered = project.ambit(words);
        assert!(
            answered.code != 0 && answered.err.contains(&format!("did you mean {meant}?")),
            "{answered:?}"
        );
    }
    let unlike = project.ambit(["run", "show", "nothing-alike"]);
    assert!(!unlike.err.contains("did you mean"), "{unlike:?}");
}

#[test]
fn a_slip_in_a_transcript_is_told_at_its_place() {
    let project = Project::new();
    let file = project.dir.path().join("slip.yaml");
    std::fs::write(
        &file,
        "apiVersion: coding-agent.enterprise/v1\nkind: AgentTranscript\nmetadata: {name: t}\nspec:\n  turnQuoteUsd: 0\n  turns:\n    - gaet: unit\n  then: finish\n",
    )
    .unwrap();
    let answered =
        project.ambit(["run", "start", "--blueprint", "greeter", "--base", "app", "--agent", "slip.yaml"]);
    assert_eq!(answered.code, 2);
    for told in ["error[DOCUMENT_UNKNOWN_FIELD]", "slip.yaml:7:7", "did you mean `gate`?"] {
        assert!(answered.err.contains(told), "{}", answered.err);
    }
}
