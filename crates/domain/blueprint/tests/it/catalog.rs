use ambit_blueprint::{CommandVerdict, DocumentKind, NamedCommandCatalog, ProblemCode};
use ambit_ids::{ByteCount, DurationMs, MicroUsd};

use crate::page::{codes, edited, problems, sample};

fn text() -> &'static str {
    sample(DocumentKind::NamedCommandCatalog)
}

fn read(text: &str) -> NamedCommandCatalog {
    NamedCommandCatalog::parse("catalog.yaml", text.as_bytes()).unwrap_or_else(|e| panic!("{}", e.render()))
}

const BEFORE_VOLUMES: &str = "sha256:c7c96a0573e9b60ec62de09875660643c4577ad820435ed1b4638d1ab54e9c96";
const IMAGE: &str = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

// proves E-E07
// break crates/domain/blueprint/src/catalog/mod.rs: `self.spec.commands.iter().find(|command| command.id == *id)` -> `self.spec.commands.first().filter(|_| !id.as_str().is_empty())`
#[test]
fn the_name_of_a_gate_means_one_pinned_command() {
    let catalog = read(text());
    let command = catalog.command(&"unit.todo-idempotency".parse().unwrap()).unwrap();
    assert_eq!(command.argv, ["python3", "-m", "unittest", "tests.protected.test_idempotency"]);
    assert_eq!(command.image.to_string(), IMAGE);
    assert_eq!(command.resources.limits.memory_bytes, ByteCount::new(256 << 20));
    assert_eq!(command.resources.limits.wall_ms, DurationMs::new(60_000));
    assert_eq!(command.resources.limits.output_bytes, ByteCount::new(256 << 10));
    assert_eq!(command.resources.parallel_processes, 1);
    assert_eq!(command.cost, MicroUsd::new(1_000));
    assert_eq!(command.outputs[0].max_size, ByteCount::new(64 << 10));
    assert_eq!(command.verdict, CommandVerdict::ExitStatus);
    assert!(catalog.command(&"unit".parse().unwrap()).is_none());
}

// proves E-J01
// break crates/domain/blueprint/src/catalog/read.rs: `text.parse().map_err(|_| {` -> `text.parse().or_else(|_| Ok(Digest::of(text.as_bytes()))).map_err(|_: ambit_ids::ParseDigestError| {`
#[test]
fn an_image_is_named_by_its_digest_alone() {
    assert_eq!(codes(text()), []);
    let upper = IMAGE.to_uppercase();
    let by_both = format!("python@{IMAGE}");
    for image in ["python", "python:3.12", "python:latest", "latest", "sha256:9f86d0", &upper, &by_both] {
        let found = problems(&edited(text(), IMAGE, &format!("\"{image}\"")));
        assert_eq!(found, [(ProblemCode::ImageNotPinned, 11, 14)], "{image}");
    }
}

// proves E-F08
// break crates/domain/blueprint/src/catalog/read.rs: `let verdict = fields.required("verdict").and_then(|c| c.word());` -> `let verdict = fields.required("verdict").map(|_| super::CommandVerdict::ExitStatus);`
#[test]
fn the_judgement_of_a_model_is_no_verdict() {
    assert_eq!(codes(text()), []);
    for verdict in ["model", "llm-judge", "output-contains", "exit-status-or-model", "EXIT-STATUS"] {
        let other = edited(text(), "verdict: exit-status", &format!("verdict: {verdict}"));
        assert_eq!(codes(&other), [ProblemCode::UnknownWord], "{verdict}");
    }
    let absent = edited(text(), "      verdict: exit-status\n", "");
    assert_eq!(codes(&absent), [ProblemCode::MissingField]);
    let beside = edited(text(), "verdict: exit-status", "verdict: exit-status\n      judge: gpt");
    assert_eq!(codes(&beside), [ProblemCode::UnknownField]);
}

// proves E-E07
// break crates/domain/blueprint/src/catalog/read.rs: `fields.required("argv").and_then(|c| c.each(1..=MAX_ARGUMENTS, read_argument));` -> `fields.required("argv").and_then(|c| c.exact_text().map(|t| vec![t.to_owned()]).or_else(|_| c.each(1..=MAX_ARGUMENTS, read_argument)));`
#[test]
fn a_command_is_arguments_and_never_a_line_of_shell() {
    let argv = "[python3, -m, unittest, tests.protected.test_idempotency]";
    let line = edited(text(), argv, "python3 -m unittest && rm -rf /");
    assert_eq!(codes(&line), [ProblemCode::WrongType]);
    assert_eq!(codes(&edited(text(), argv, "[]")), [ProblemCode::OutOfRange]);
    assert_eq!(codes(&edited(text(), argv, "[python3, '']")), [ProblemCode::OutOfRange]);
    assert_eq!(codes(&edited(text(), argv, "[python3, \"a\\0b\"]")), [ProblemCode::Encoding]);
    assert_eq!(codes(&edited(text(), argv, "[python3, 3]")), [ProblemCode::WrongType]);
    assert_eq!(
        codes(&edited(text(), argv, &format!("[{}]", ["x"; 65].join(", ")))),
        [ProblemCode::OutOfRange]
    );

    let exact = read(&edited(text(), argv, "[python3, -c, \" print(1)\\n\"]"));
    assert_eq!(exact.spec.commands[0].argv, ["python3", "-c", " print(1)\n"]);
}

#[test]
fn a_command_that_no_kernel_would_start_is_refused_as_a_whole() {
    let argv = "[python3, -m, unittest, tests.protected.test_idempotency]";
    let words =
        |count: usize| edited(text(), argv, &format!("[{}]", vec!["x".repeat(4000); count].join(", ")));
    assert_eq!(read(&words(28)).spec.commands[0].argv.len(), 28);
    assert_eq!(codes(&words(29)), [ProblemCode::OutOfRange]);
}

#[test]
fn an_environment_loads_no_code_and_holds_no_secret() {
    let variable = "PYTHONDONTWRITEBYTECODE: \"1\"";
    for name in ["LD_PRELOAD", "API_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "SSH_KEY", "path", "A-B"] {
        let found = problems(&edited(text(), variable, &format!("{name}: x")));
        assert_eq!(found, [(ProblemCode::EnvironmentRefused, 13, 9)], "{name}");
    }
    assert_eq!(codes(&edited(text(), variable, "LEVEL: 1")), [ProblemCode::WrongType]);
    assert_eq!(codes(&edited(text(), variable, "VERBOSE: yes")), [ProblemCode::Ambiguous]);
    assert_eq!(codes(&edited(text(), variable, "EMPTY: ''")), []);
    let many: String = (0..65).map(|at| format!("V{at}: x\n        ")).collect();
    assert_eq!(codes(&edited(text(), variable, &many)), [ProblemCode::OutOfRange]);
}

#[test]
fn what_a_command_may_use_is_bounded() {
    for (key, standing, low, high) in [
        ("memoryMib", "256", 1_u64, 262_144_u64),
        ("processes", "16", 1, 4096),
        ("cpuMillis", "1000", 10, 256_000),
        ("cpuSeconds", "20", 1, 86_400),
        ("wallSeconds", "60", 1, 86_400),
        ("diskMib", "64", 1, 1_048_576),
        ("outputKib", "256", 1, 1_048_576),
    ] {
        let line = format!("        {key}: {standing}\n");
        let with = |value: u64| edited(text(), &line, &format!("        {key}: {value}\n"));
        assert_eq!(codes(&with(low)), [], "{key}");
        assert_eq!(codes(&with(high)), [], "{key}");
        assert_eq!(codes(&with(low - 1)), [ProblemCode::OutOfRange], "{key}");
        assert_eq!(codes(&with(high + 1)), [ProblemCode::OutOfRange], "{key}");
        assert_eq!(codes(&edited(text(), &line, "")), [ProblemCode::MissingField], "{key}");
    }
}

/// A directory is an output with a bound more, and what has none reads and writes as it did before.
#[test]
fn a_directory_is_an_output_that_says_how_many_entries_it_may_have() {
    let file = read(text());
    assert_eq!(file.spec.commands[0].outputs[0].max_entries, None);
    let output = "- {path: reports/unit.xml, maxKib: 64}";
    let unreported = edited(text(), REPORT, "");
    let directory = read(&edited(&unreported, output, "- {path: reports, maxKib: 64, maxEntries: 1024}"));
    assert_eq!(directory.spec.commands[0].outputs[0].max_entries, Some(1024));
    let written = |catalog| serde_json::to_value(catalog).unwrap()["spec"]["commands"][0]["outputs"].clone();
    assert_eq!(written(&file), serde_json::json!([{"path": "reports/unit.xml", "maxKib": 64}]));
    assert_eq!(
        written(&directory),
        serde_json::json!([{"path": "reports", "maxKib": 64, "maxEntries": 1024}])
    );
}

#[test]
fn files_and_names_of_a_command_are_checked() {
    let output = "- {path: reports/unit.xml, maxKib: 64}";
    let fixture = "- {name: tenants, from: tests/fixtures/tenants}";
    for (from, to, code) in [
        (output, "- {path: ../unit.xml, maxKib: 64}", ProblemCode::Malformed),
        (output, "- {path: /etc/passwd, maxKib: 64}", ProblemCode::Malformed),
        (output, "- {path: .git/config, maxKib: 64}", ProblemCode::Malformed),
        (output, "- {path: reports/unit.xml, maxKib: 65537}", ProblemCode::OutOfRange),
        (output, "- {path: a, maxKib: 1}\n        - {path: a, maxKib: 2}", ProblemCode::DuplicateId),
        (output, "- {path: reports, maxKib: 64, maxEntries: 0}", ProblemCode::OutOfRange),
        (output, "- {path: reports, maxKib: 64, maxEntries: 1025}", ProblemCode::OutOfRange),
        (fixture, "- {name: ../tenants, from: tests}", ProblemCode::Malformed),
        (fixture, "- {name: tenants, from: /srv/data}", ProblemCode::Malformed),
        (fixture, "- {name: a, from: b}\n        - {name: a, from: c}", ProblemCode::DuplicateId),
        ("costUsd: 0.001", "costUsd: 0.0000001", ProblemCode::Malformed),
        ("costUsd: 0.001", "costUsd: 1\n      costMicroUsd: 1", ProblemCode::Contradiction),
        ("costUsd: 0.001", "workdir: a/../b", ProblemCode::Malformed),
        ("costUsd: 0.001", "shell: true", ProblemCode::UnknownField),
        ("version: 3", "version: v3", ProblemCode::WrongType),
    ] {
        assert_eq!(codes(&edited(text(), from, to)), [code], "{to}");
    }
    let command = text().split("  commands:\n").nth(1).unwrap();
    assert_eq!(codes(&format!("{}{command}", text())), [ProblemCode::DuplicateId]);
}

#[test]
fn a_command_names_volumes_by_digest_and_says_nothing_of_those_that_it_does_not_have() {
    let fixtures = "      fixtures:\n        - {name: tenants, from: tests/fixtures/tenants}\n";
    let before = edited(text(), REPORT, "");
    let with = |volumes: &str| edited(&before, fixtures, &format!("{fixtures}      volumes: {volumes}\n"));
    let canonical = |text: &str| read(text).to_canonical().unwrap();
    let plain = canonical(&before);
    let written = String::from_utf8_lossy(plain.as_bytes()).into_owned();
    assert!(!written.contains("volumes") && !written.contains("report\""), "{written}");
    assert_eq!(canonical(&with("[]")).digest(), plain.digest());
    // The digest that the page's catalog had before there were volumes and reports.
    assert_eq!(plain.digest().to_string(), BEFORE_VOLUMES);

    let one = format!("{{name: cargo, digest: \"{IMAGE}\"}}");
    let named = read(&with(&format!("[{one}]")));
    let volume = &named.spec.commands[0].volumes[0];
    assert_eq!((volume.name.as_str(), volume.digest.to_string().as_str()), ("cargo", IMAGE));
    let bytes = named.to_canonical().unwrap();
    assert_eq!(NamedCommandCatalog::parse("catalog.json", bytes.as_bytes()).unwrap(), named);

    let many = |count: usize| -> String {
        let all: Vec<String> = (0..count).map(|at| one.replace("cargo", &format!("v{at}"))).collect();
        format!("[{}]", all.join(", "))
    };
    assert_eq!(codes(&with(&many(8))), []);
    assert_eq!(codes(&with(&format!("[{}]", one.replace("cargo", "node_modules")))), []);
    for (volumes, code) in [
        (many(9), ProblemCode::OutOfRange),
        (format!("[{one}, {one}]"), ProblemCode::DuplicateId),
        (format!("[{}]", one.replace("cargo", "../cargo")), ProblemCode::Malformed),
        (format!("[{}]", one.replace("cargo", "Cargo")), ProblemCode::Malformed),
        (format!("[{}]", one.replace("cargo", "\"\"")), ProblemCode::Malformed),
        (format!("[{}]", one.replace("cargo", "\"1x\"")), ProblemCode::Malformed),
        (format!("[{}]", one.replace(IMAGE, "cargo")), ProblemCode::VolumeNotPinned),
        (format!("[{}]", one.replace(IMAGE, "${volume.cargo}")), ProblemCode::VolumeNotPinned),
        (format!("[{}]", one.replace(IMAGE, &IMAGE.to_uppercase())), ProblemCode::VolumeNotPinned),
        ("[{name: cargo}]".to_owned(), ProblemCode::MissingField),
        (format!("[{}]", one.replace("name", "at")), ProblemCode::UnknownField),
    ] {
        let found = codes(&with(&volumes));
        assert!(found.contains(&code), "{volumes}: {found:?}");
    }
}

const REPORT: &str = "report: {format: junit-xml, output: reports/unit.xml}";

#[test]
fn a_report_has_a_known_format_and_lies_in_a_declared_output_or_in_standard_output() {
    let report = read(text()).spec.commands[0].report.clone().unwrap();
    assert_eq!(
        (report.format.as_str(), report.output.unwrap().to_string().as_str()),
        ("junit-xml", "reports/unit.xml")
    );
    let printed =
        read(&edited(text(), REPORT, "report: {format: tap}")).spec.commands[0].report.clone().unwrap();
    assert_eq!((printed.format.as_str(), printed.output), ("tap", None));
    for (other, code) in [
        ("report: {format: junit}", ProblemCode::UnknownWord),
        ("report: {output: reports/unit.xml}", ProblemCode::MissingField),
        ("report: {format: tap, output: reports/other.xml}", ProblemCode::UnknownReference),
        ("report: {format: tap, output: ../x}", ProblemCode::Malformed),
        ("report: {format: tap, believed: true}", ProblemCode::UnknownField),
    ] {
        assert_eq!(codes(&edited(text(), REPORT, other)), [code], "{other}");
    }
}
