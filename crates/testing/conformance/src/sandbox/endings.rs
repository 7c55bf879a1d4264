//! How a command ended, and what it said, as told by something that it cannot write to.

use std::time::Instant;

use ambit_gates::{Ending, NotStarted};
use ambit_ids::{CommandSize, Digest, limits};
use ambit_ports::sandbox::{BatchFileKind, NamedCommand};

use super::bench::{never, path};
use super::{Bench, PROMPT};

/// An exit code is told as it is, a signal as a signal, and neither as the other.
pub async fn an_end_is_told_as_it_is(bench: &Bench) {
    let staged = bench.staged("endings-told").await;
    for code in ["0", "1", "7", "127", "255"] {
        let seen = bench.probe(&staged, &["exit", code]).await;
        assert_eq!(seen.ending, Ending::Exited { code: code.parse().unwrap() });
        assert!(seen.breaches.is_empty());
    }
    for signal in [6, 9, 11, 15] {
        let seen = bench.probe(&staged, &["signal", &signal.to_string()]).await;
        assert_eq!(seen.ending, Ending::Signalled { signal });
    }
    bench.destroy(&staged).await;
}

/// Output that looks like a result is output.
pub async fn output_forges_nothing(bench: &Bench) {
    let staged = bench.staged("endings-forged").await;
    let forged = "test result: ok. 99 passed; 0 failed\n{\"exitCode\":0}\n::endgroup::";
    let mut command = bench.command(&staged, &["signal", "6", forged]);
    command.environment.push(("EXIT_CODE".into(), "0".into()));
    assert_eq!(bench.execute(&staged, command).await.ending, Ending::Signalled { signal: 6 });
    let seen = bench.probe(&staged, &["say", forged]).await;
    assert_eq!((seen.ending, seen.stdout.head.as_str()), (Ending::Exited { code: 0 }, forged));
    bench.destroy(&staged).await;
}

/// A command that cannot start is told apart from one that failed, and from a sandbox that did.
pub async fn what_cannot_start_says_why(bench: &Bench) {
    let staged = bench.staged("endings-start").await;
    let mut not_executable = bench.batch().await;
    not_executable.tree = Digest::of(b"a tree with a file that cannot be executed");
    not_executable.files.insert(0, bench.file("notes", BatchFileKind::File, b"text").await);
    not_executable
        .files
        .insert(1, bench.file("script", BatchFileKind::Executable, b"#!/no/such/interpreter\n").await);
    not_executable.files.sort_by(|left, right| left.path.cmp(&right.path));
    bench.port.write_files(&staged.lease, not_executable).await.unwrap();

    let run = async |argv0: &str, workdir: Option<&str>| {
        let mut command = bench.command(&staged, &["exit", "0"]);
        command.tree = Digest::of(b"a tree with a file that cannot be executed");
        command.argv[0] = argv0.into();
        command.workdir = workdir.map(path);
        bench.execute(&staged, command).await.ending
    };
    let not_started = |why| Ending::NotStarted { why };
    assert_eq!(run("/no/such/program", None).await, not_started(NotStarted::CommandNotFound));
    assert_eq!(run("no-such-program", None).await, not_started(NotStarted::CommandNotFound));
    assert_eq!(run("/workspace/notes", None).await, not_started(NotStarted::NotExecutable));
    assert_eq!(run("/workspace/sub", None).await, not_started(NotStarted::NotExecutable));
    assert_eq!(run("/workspace/script", None).await, not_started(NotStarted::NotExecutable));
    assert_eq!(run("/workspace/probe", Some("no/such")).await, not_started(NotStarted::WorkdirMissing));
    assert_eq!(run("/workspace/probe", Some("probe")).await, not_started(NotStarted::WorkdirMissing));
    assert_eq!(run("../probe", Some("sub")).await, Ending::Exited { code: 0 });
    bench.destroy(&staged).await;
}

/// The largest command that is allowed is started, with every word of it, and a larger one is refused before anything is
/// done for it.
pub async fn the_largest_command_starts(bench: &Bench) {
    let staged = bench.staged("endings-largest").await;
    let bare = bench.command(&staged, &["environment"]);
    let size = |command: &NamedCommand| {
        let variables = command.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        CommandSize::of(command.argv.iter().map(String::as_str), variables)
    };
    let overhead = CommandSize::of([""], []).bytes;
    let room = limits::COMMAND_WORD_BYTES - size(&bare).bytes;
    let with = |argv: Vec<String>, environment: Vec<(String, String)>| {
        let argv = bare.argv.iter().cloned().chain(argv).collect();
        NamedCommand { argv, environment, ..bare.clone() }
    };
    let variable = |bytes: usize| vec![("N".to_owned(), "v".repeat(bytes))];
    let some = limits::COMMAND_WORDS - bare.argv.len();
    let word_bytes = room / some - overhead;
    for (what, fits, excess) in [
        (
            "one argument",
            with(vec!["x".repeat(room - overhead)], vec![]),
            with(vec!["x".repeat(room - overhead + 1)], vec![]),
        ),
        (
            "one variable",
            with(vec![], variable(room - overhead - 2)),
            with(vec![], variable(room - overhead - 1)),
        ),
        (
            "many words",
            with(vec!["y".repeat(word_bytes); some], vec![]),
            with(vec![String::new(); some + 1], vec![]),
        ),
    ] {
        let given: String =
            fits.environment.iter().map(|(name, value)| format!("{name}={value}\0")).collect();
        let seen = bench.execute(&staged, fits).await;
        assert_eq!(seen.ending, Ending::Exited { code: 0 }, "{what}");
        assert!(bench.blob(seen.stdout.artifact).await.starts_with(given.as_bytes()), "{what}: not whole");
        let refused = bench.port.execute_named(&staged.lease, excess, never()).await;
        assert_eq!(refused.map_err(|error| error.code()), Err("COMMAND_TOO_LARGE"), "{what}");
    }
    for (argv, environment) in [
        ("a\0b", vec![]),
        ("a", vec![("N".to_owned(), "a\0b".to_owned())]),
        ("a", vec![("N=M".to_owned(), String::new())]),
    ] {
        let refused =
            bench.port.execute_named(&staged.lease, with(vec![argv.into()], environment), never()).await;
        assert_eq!(refused.map_err(|error| error.code()), Err("COMMAND_MALFORMED"));
    }
    bench.destroy(&staged).await;
}

/// A child that holds the output open delays no answer and does not outlive it.
pub async fn children_do_not_outlive_the_answer(bench: &Bench) {
    let staged = bench.staged("endings-children").await;
    let started = Instant::now();
    let seen = bench.probe(&staged, &["orphans", "5"]).await;
    assert_eq!(seen.ending, Ending::Exited { code: 0 });
    assert_eq!(seen.stdout.head, "started\nok 5\n");
    assert_eq!(seen.killed_processes, 5);
    assert!(started.elapsed() < PROMPT, "{:?}", started.elapsed());
    let listed = bench.probe(&staged, &["list", "/proc"]).await.stdout;
    let processes =
        format!("{}{}", listed.head, listed.tail).lines().filter(|name| name.parse::<u32>().is_ok()).count();
    assert_eq!(processes, 2, "the init and the prober");
    bench.destroy(&staged).await;
}

/// Standard input is empty and there is no terminal.
pub async fn there_is_nothing_to_wait_for(bench: &Bench) {
    let staged = bench.staged("endings-input").await;
    assert_eq!(bench.attempt(&staged, &["read", "/proc/self/fd/0"]).await, "ok 0");
    bench.refused(&staged, &["read", "/dev/tty"], &[2, 6]).await;
    bench.destroy(&staged).await;
}

/// Both ends of a stream are shown, and the whole of it is kept, byte by byte.
pub async fn output_is_kept_whole(bench: &Bench) {
    let staged = bench.staged("endings-output").await;
    // Colours, the title of a window, the short form of an escape, and text that runs backwards.
    let obeyed = "a\u{1b}[31mb\u{1b}]0;c\u{7}\u{9b}2Jd\u{202e}e\u{2066}";
    let seen = bench.probe(&staged, &["say", obeyed]).await.stdout;
    let shown = "a\u{fffd}[31mb\u{fffd}]0;c\u{fffd}\u{fffd}2Jd\u{fffd}e\u{fffd}";
    assert_eq!((seen.head.as_str(), seen.truncated), (shown, false));
    assert_eq!(bench.blob(seen.artifact).await, obeyed);

    let count = 300_000;
    let seen = bench.probe(&staged, &["print", &count.to_string()]).await.stdout;
    let whole = format!("{}ok {count}\n", "x".repeat(count));
    assert_eq!(bench.blob(seen.artifact).await, whole);
    assert_eq!(seen.bytes.get(), whole.len() as u64);
    assert!(seen.truncated && seen.tail.ends_with(&format!("xok {count}\n")) && seen.head.starts_with("xxx"));
    assert!(seen.head.len() <= limits::OUTPUT_WINDOW_BYTES && seen.tail.len() <= limits::OUTPUT_WINDOW_BYTES);
    bench.destroy(&staged).await;
}

/// Names and contents that are not text arrive as they are.
pub async fn bytes_that_are_not_text_survive(bench: &Bench) {
    let staged = bench.staged("endings-bytes").await;
    let raw = b"caf\xe9 \xff\x00 end\r\n";
    let mut batch = bench.batch().await;
    batch.tree = Digest::of(b"a tree with raw bytes");
    let mut named = bench.file("placeholder", BatchFileKind::File, raw).await;
    named.path = ambit_ids::RepoPath::from_bytes(b"a\xff").unwrap();
    batch.files.insert(0, named);
    bench.port.write_files(&staged.lease, batch).await.unwrap();
    let mut list = bench.command(&staged, &["list", "/workspace"]);
    list.tree = Digest::of(b"a tree with raw bytes");
    let listed = bench.execute(&staged, list).await.stdout;
    assert!(bench.blob(listed.artifact).await.windows(3).any(|window| window == b"a\xff\n"));
    bench.destroy(&staged).await;
}
