//! Passphrases are typed at a real pseudo-terminal: what is right approves, nothing else does, and none is seen.

use std::path::Path;
use std::process::Command;

use crate::approvals::{asking, question};
use crate::live::Terminal;
use crate::own_repository::User;
use crate::rig::Project;

const PASSPHRASE: &str = "correct horse battery";
const OPENING: &str = "passphrase of the credential";
const SEALING: &str = "a passphrase to seal the credential";

/// What a command says at a terminal where, at each prompt, these keys are typed. Nothing of them may be seen, and the terminal is
/// afterwards as it was; `None` where there is no terminal.
#[track_caller]
fn typing(dir: &Path, command: &Command, keys: &[(&str, &str)]) -> Option<String> {
    let mut terminal = Terminal::of(dir, command, 100)?;
    for (prompt, typed) in keys {
        terminal.until(prompt);
        terminal.types(typed.as_bytes());
    }
    let said = terminal.ended();
    for typed in keys.iter().map(|(_, typed)| typed.trim()).filter(|typed| typed.len() > 3) {
        assert!(!said.contains(typed), "{typed} was shown: {said}");
    }
    assert!(said.contains(" echo ") && said.contains(" icanon "), "the terminal is left otherwise: {said}");
    Some(said)
}

fn code(said: &str) -> i32 {
    let (_, code) = said.rsplit_once("code ").unwrap();
    code.lines().next().unwrap().trim().parse().unwrap()
}

/// What is typed where nobody goes on: the end of what is typed, an interruption, and an end at once.
const ENDS: [(&str, i32); 3] = [("\u{4}", 11), ("\u{3}", 130), ("\u{1c}", 130)];

fn line(passphrase: &str) -> String {
    format!("{passphrase}\n")
}

// proves E-H04
// break crates/bins/ambit/src/credential.rs: `unseen.local_modes.remove(LocalModes::ECHO);` -> `unseen.local_modes.insert(LocalModes::ECHO);`
// break crates/bins/ambit/src/credential.rs: `let mut signals = Signals::at_terminal();` -> `let mut signals = Signals::to_end();`
// break crates/bins/ambit/src/credential.rs: `if said != again.trim_end_matches(['\r', '\n']) {` -> `if false {`
#[test]
fn a_credential_is_sealed_by_what_is_typed_twice_and_stays_as_it_is_otherwise() {
    let project = Project::new();
    let key = || std::fs::read_to_string(project.path("approver.key")).unwrap();
    let open = key();
    let seal = project.command(["approver", "seal", "approver.key"]);
    let typed = |keys: &[(&str, &str)]| typing(project.dir.path(), &seal, keys);
    let (right, short, other) = (line(PASSPHRASE), line("too short"), line("another passphrase"));
    for (keys, expected) in [
        (vec![(SEALING, right.as_str()), ("the same again", &other)], 11),
        (vec![(SEALING, &short), ("the same again", &short)], 11),
        (vec![(SEALING, ENDS[0].0)], ENDS[0].1),
        (vec![(SEALING, ENDS[1].0)], ENDS[1].1),
        (vec![(SEALING, ENDS[2].0)], ENDS[2].1),
        (vec![(SEALING, &right), ("the same again", ENDS[0].0)], ENDS[0].1),
        (vec![(SEALING, &right), ("the same again", ENDS[1].0)], ENDS[1].1),
    ] {
        let Some(said) = typed(&keys) else { return };
        assert_eq!((code(&said), key() == open), (expected, true), "{keys:?}: {said}");
        assert!(said.contains("nothing was changed"), "{said}");
    }
    let left = std::fs::read_dir(project.dir.path()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.contains(".new.")), "nothing is left half done: {left:?}");

    let said = typed(&[(SEALING, &right), ("the same again", &right)]).unwrap();
    assert_eq!(code(&said), 0, "{said}");
    let sealed = ambit_projects::SealedCredential::read(&key()).expect("it is sealed");
    let read = ambit_projects::ApproverCredential::read(&open).unwrap();
    assert_eq!(sealed.open(PASSPHRASE).unwrap().public_key(), read.public_key());
}

// proves E-H04 E-H03
// break crates/control-plane/projects/src/sealed.rs: `(credential.public_key() == self.key).then_some(credential)` -> `Some(credential)`
#[test]
fn a_proposal_is_approved_by_the_right_passphrase_and_by_nothing_else_that_is_typed() {
    let project = Project::new();
    let mut words = project.start_words("alone", &asking());
    words.push("--no-input".to_owned());
    assert_eq!(project.ambit(&words).code, 6);
    let (proposal, digest) = question(&project, "alone");
    let right = line(PASSPHRASE);
    let seal = project.command(["approver", "seal", "approver.key"]);
    let Some(said) = typing(project.dir.path(), &seal, &[(SEALING, &right), ("the same again", &right)])
    else {
        return;
    };
    assert_eq!(code(&said), 0, "{said}");
    let words = ["approve", &proposal, "--digest", &digest, "--credential-file", "approver.key"];
    let approve = project.command(words);
    let typed = |keys: &str| typing(project.dir.path(), &approve, &[(OPENING, keys)]).unwrap();
    let wrong = typed(&line("correct horse batterz"));
    assert!(code(&wrong) == 11 && wrong.contains("this is not the passphrase of the credential"), "{wrong}");
    // What is decided about is shown before the prompt, whole.
    let (shown, _) = wrong.split_once(OPENING).unwrap();
    for part in [
        &format!("you approve dependency.add for alone, {proposal}"),
        "| requirements.txt adds the dependency attrs",
        "| +attrs==25.3.0",
        "the agent says, and nothing vouches for it",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    for (keys, expected) in ENDS {
        let said = typed(keys);
        assert_eq!(code(&said), expected, "{said}");
        assert!(said.contains("nothing was changed"), "{said}");
    }
    assert_eq!(project.show("alone")["awaiting"], "person", "nobody decided");
    let said = typed(&right);
    assert!(code(&said) == 0 && said.contains("is approved by ada"), "{said}");
    assert!(!said.contains("The credential is open"), "{said}");
    assert_eq!(project.show("alone")["decision"]["decision"], "approved");
    project.ambit(["run", "resume", "alone", "--agent", "alone.agent.yaml", "--quiet"]).well();
    project.ambit(["trace", "verify", "alone"]).well();
    // The decision, which the run keeps as it was signed, says that the credential was sealed.
    assert!(project.finds("\"credential\":\"sealed\""), "the kept decision says how the credential was kept");
}

// proves E-H04
// break crates/bins/ambit/src/config.rs: `let seals = sealing == Sealing::AtTerminal && context.can_ask();` -> `let seals = sealing == Sealing::Never && context.can_ask();`
#[test]
fn the_everyday_credential_is_sealed_when_it_is_made_at_a_terminal() {
    let user = User::new();
    let (dir, key) = (user.path("calc"), user.path("config/ambit/approver.key"));
    let right = line(PASSPHRASE);
    let asks = "[y/N] ";
    for (keys, expected) in [ENDS[0], ENDS[1]] {
        let init = user.command("calc", &["init"]);
        // What is typed at an ordinary question is seen: that nothing else is says something.
        let Some(said) = typing(&dir, &init, &[(asks, "y\n"), (SEALING, keys)]) else { return };
        assert!(said.contains("[y/N] y") && code(&said) == expected, "{said}");
        assert!(!key.exists() && !dir.join(".ambit").exists(), "nothing is left half done");
    }
    let init = user.command("calc", &["init", "--yes"]);
    let said = typing(&dir, &init, &[(SEALING, &right), ("the same again", &right)]).unwrap();
    assert!(code(&said) == 0 && said.contains("approver.key, sealed with your passphrase"), "{said}");
    let sealed = ambit_projects::SealedCredential::read(&std::fs::read_to_string(&key).unwrap()).unwrap();
    assert!(sealed.open(PASSPHRASE).is_some());
    for (words, what) in [
        (&["doctor"][..], "approver.key, sealed"),
        (&["approver", "list"], "credential sealed"),
        (&["grants"], ", credential sealed"),
    ] {
        let shown = user.ambit("calc", words).out;
        assert!(shown.contains(what), "{what}: {shown}");
    }
    // Whoever has no terminal starts no run for a goal that nobody approved.
    let agent = user.path("agents/fixer.yaml");
    let start = ["run", "start", "Make add work.", "--agent", agent.to_str().unwrap()];
    let refused = user.ambit("calc", &start);
    assert!(refused.code == 11 && refused.err.contains("CREDENTIAL_REFUSED"), "{refused:?}");
    let said = typing(&dir, &user.command("calc", &start), &[(OPENING, &right)]).unwrap();
    assert!(code(&said) == 0 && said.contains("is preview-ready"), "{said}");
    // The goal is approved now, so nobody is asked again.
    assert_eq!(user.ambit("calc", &start).code, 0);
}

#[test]
fn an_open_everyday_credential_at_a_terminal_is_a_choice() {
    let user = User::new();
    let dir = user.path("calc");
    let Some(said) = typing(&dir, &user.command("calc", &["init", "--yes", "--unsealed"]), &[]) else {
        return;
    };
    assert!(code(&said) == 0 && said.contains("approver.key, open"), "{said}");
    assert!(said.contains("whatever runs as you can read it, and approve"), "{said}");
}
