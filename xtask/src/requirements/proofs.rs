//! What tests say of themselves: the comment lines directly above a test's attributes that name the rows that it proves
//! and the change of one line that turns it red.
//!
//! The first line is `proves` and the rows; each further one is `break`, a file, a colon, the text to find and the text
//! to put there, both in backticks with an arrow between. For a TOML file, `\n` in the text to put there is a line end:
//! TOML has no two keys on one line. A line that is only `break-build` says that the change must not even compile.

use crate::metadata::Package;
use crate::rust_text::{Code, Item};
use crate::workspace::Workspace;

const PROVES: &str = "// proves ";
const BREAK: &str = "// break ";
const BREAK_BUILD: &str = "// break-build";

/// A test that proves rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) path: String,
    /// The line of the comment.
    pub(crate) line: usize,
    pub(crate) rows: Vec<String>,
    pub(crate) test: TestName,
    pub(crate) breaks: Vec<Break>,
}

/// A test, as cargo finds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestName {
    pub(crate) package: String,
    /// `--lib`, or `--bin` or `--test` and a name.
    pub(crate) target: Vec<String>,
    /// With its modules, as the test binary spells it.
    pub(crate) name: String,
}

/// A change that turns a test red.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Break {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// Whether the change is meant not to compile.
    pub(crate) build: bool,
}

/// One break of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) rows: Vec<String>,
    pub(crate) test: TestName,
    pub(crate) planned: Break,
}

/// A comment that looks like a proof and cannot be read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) says: String,
}

#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) proofs: Vec<Proof>,
    pub(crate) misread: Vec<Misread>,
}

impl Collected {
    /// Every break of every test.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let of = |proof: &Proof, planned: &Break| Case {
            rows: proof.rows.clone(),
            test: proof.test.clone(),
            planned: planned.clone(),
        };
        self.proofs
            .iter()
            .flat_map(|proof| proof.breaks.iter().map(move |planned| of(proof, planned)))
            .collect()
    }
}

impl Break {
    /// The file with the change made, or why it cannot be made. Comments that record breaks are never changed: the one
    /// that records this break spells the text as well.
    pub(crate) fn apply(&self, text: Option<&str>) -> Result<String, String> {
        let text =
            text.ok_or_else(|| format!("the break names {}, which is no file of the project", self.path))?;
        let new = if self.path.ends_with(".toml") { self.new.replace("\\n", "\n") } else { self.new.clone() };
        let mut changed = String::with_capacity(text.len());
        let mut count = 0;
        for line in text.split_inclusive('\n') {
            if line.trim_start().starts_with(BREAK) {
                changed.push_str(line);
            } else {
                count += line.matches(&self.old).count();
                changed.push_str(&line.replace(&self.old, &new));
            }
        }
        match count {
            1 => Ok(changed),
            0 => Err(format!("the break's text `{}` no longer stands in {}", self.old, self.path)),
            _ => Err(format!("the break's text `{}` stands {count} times in {}", self.old, self.path)),
        }
    }
}

pub(crate) fn collect(workspace: &Workspace) -> Collected {
    let mut collected = Collected::default();
    for (path, text) in workspace.sources() {
        let marked =
            |line: &str| line.trim_start().starts_with(PROVES) || line.trim_start().starts_with(BREAK);
        if text.lines().any(marked) {
            let source = Source { path, text, code: Code::of(text), package: workspace.package_of(path) };
            source.collect_into(&mut collected);
        }
    }
    collected
}

struct Source<'a> {
    path: &'a str,
    text: &'a str,
    code: Code,
    package: Option<&'a Package>,
}

impl Source<'_> {
    fn collect_into(&self, collected: &mut Collected) {
        let functions = self.code.items("fn");
        let mut lines = self.lines().peekable();
        while let Some((at, line, text)) = lines.next() {
            if parse_break(text).is_some() {
                collected.misread.push(
                    self.misread(
                        line,
                        "a break stands without a line above it that says what the test proves",
                    ),
                );
            }
            let Some(rows) = text.strip_prefix(PROVES) else { continue };
            let mut breaks = Vec::new();
            let mut end = at;
            while let Some((next, _, text)) = lines.next_if(|(_, _, text)| text.starts_with("// ")) {
                end = next;
                match parse_break(text) {
                    Some(planned) => breaks.push(planned),
                    None if text == BREAK_BUILD => breaks.iter_mut().for_each(|it| it.build = true),
                    None => collected.misread.push(self.misread(
                        line,
                        "between what a test proves and its attributes only breaks may stand, each `old` -> `new`",
                    )),
                }
            }
            let rows = rows.split([' ', ',']).filter(|row| !row.is_empty()).map(str::to_owned).collect();
            match self.test_after(end, &functions) {
                Err(says) => collected.misread.push(self.misread(line, says)),
                Ok(test) => {
                    let path = self.path.to_owned();
                    collected.proofs.push(Proof { path, line, rows, test, breaks });
                }
            }
        }
    }

    /// Offset, number and trimmed text of each line.
    fn lines(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let mut offset = 0;
        self.text.split_inclusive('\n').enumerate().map(move |(index, line)| {
            let at = offset;
            offset += line.len();
            (at, index + 1, line.trim())
        })
    }

    fn misread(&self, line: usize, says: &str) -> Misread {
        Misread { path: self.path.to_owned(), line, says: says.to_owned() }
    }

    /// The test whose attributes begin after the comment at `comment`.
    fn test_after(&self, comment: usize, functions: &[Item]) -> Result<TestName, &'static str> {
        let function = functions
            .iter()
            .find(|function| function.start > comment)
            .ok_or("no test stands below the comment")?;
        let between = &self.code.as_bytes()[comment..function.start];
        let has_test = crate::rust_text::whole_words(between, "test").next().is_some();
        if !has_test || between.iter().any(|byte| matches!(byte, b'{' | b'}' | b';')) {
            return Err("what stands below the comment is no test");
        }
        let package = self.package.ok_or("the file belongs to no package")?;
        let (target, mut modules) = target_of(package, self.path).ok_or("the file belongs to no target")?;
        modules.extend(self.code.modules_around(function.start));
        modules.push(function.name.clone());
        Ok(TestName { package: package.name.clone(), target, name: modules.join("::") })
    }
}

fn parse_break(line: &str) -> Option<Break> {
    let (path, change) = line.strip_prefix(BREAK)?.split_once(": `")?;
    let (old, new) = change.strip_suffix('`')?.split_once("` -> `")?;
    let sound = !old.is_empty() && old != new && !old.contains('`') && !new.contains('`');
    sound.then(|| Break { path: path.to_owned(), old: old.to_owned(), new: new.to_owned(), build: false })
}

/// The words that make cargo choose the target of a file, and the modules that the file's place stands for.
fn target_of(package: &Package, path: &str) -> Option<(Vec<String>, Vec<String>)> {
    let candidates = package.targets.iter().filter_map(|target| {
        let selector = match target.kind.as_str() {
            "lib" | "rlib" | "proc-macro" => vec!["--lib".to_owned()],
            "bin" => vec!["--bin".to_owned(), target.name.clone()],
            "test" => vec!["--test".to_owned(), target.name.clone()],
            _ => return None,
        };
        if target.source == path {
            return Some((usize::MAX, selector, Vec::new()));
        }
        let (folder, first) = target.source.rsplit_once('/')?;
        let below = path.strip_prefix(folder)?.strip_prefix('/')?;
        let roots_modules = matches!(first, "lib.rs" | "main.rs" | "mod.rs");
        // Of a library and a binary in one folder, the library has the modules.
        let depth = 2 * folder.len() + usize::from(target.kind != "bin");
        roots_modules.then(|| (depth, selector, modules_of(below)))
    });
    candidates.max_by_key(|(depth, _, _)| *depth).map(|(_, selector, modules)| (selector, modules))
}

fn modules_of(file: &str) -> Vec<String> {
    let mut modules: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    modules.pop_if(|last| last == "mod");
    modules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Target;
    use crate::workspace::tests::of;

    fn package() -> Package {
        let target = |name: &str, kind: &str, source: &str| Target {
            name: name.to_owned(),
            kind: kind.to_owned(),
            source: source.to_owned(),
        };
        Package {
            name: "p".to_owned(),
            folder: "c/p".to_owned(),
            dependencies: Vec::new(),
            targets: vec![
                target("p", "lib", "c/p/src/lib.rs"),
                target("p", "bin", "c/p/src/main.rs"),
                target("it", "test", "c/p/tests/it/main.rs"),
                target("lone", "test", "c/p/tests/lone.rs"),
                target("build-script-build", "custom-build", "c/p/build.rs"),
            ],
        }
    }

    fn read(path: &str, text: &str) -> Collected {
        collect(&of(&[(path, text)], vec![package()]))
    }

    fn planned(old: &str, new: &str) -> Break {
        Break { path: "c/p/src/a.rs".to_owned(), old: old.to_owned(), new: new.to_owned(), build: false }
    }

    #[test]
    fn a_proof_is_read_with_its_rows_its_test_and_its_breaks() {
        let text = [
            "mod tests {",
            "    // proves E-A01, D2",
            "    // break c/p/src/a.rs: `a -> b` -> ``",
            "    // break c/p/src/a.rs: `c` -> `d`",
            "    // break-build",
            "    #[tokio::test(flavor = \"current_thread\")]",
            "    async fn holds() {}",
            "}",
        ];
        let collected = read("c/p/src/a/mod.rs", &text.join("\n"));
        assert_eq!(collected.misread, []);
        let [proof] = collected.proofs.as_slice() else { panic!("{collected:?}") };
        assert_eq!(proof.rows, ["E-A01", "D2"]);
        assert_eq!((proof.test.package.as_str(), proof.test.name.as_str()), ("p", "a::tests::holds"));
        assert_eq!(proof.test.target, ["--lib"]);
        let build = |planned: Break| Break { build: true, ..planned };
        assert_eq!(proof.breaks, [build(planned("a -> b", "")), build(planned("c", "d"))]);
    }

    #[test]
    fn the_target_and_the_modules_follow_from_the_place_of_the_file() {
        for (path, target, name) in [
            ("c/p/src/lib.rs", "--lib", "t"),
            ("c/p/src/main.rs", "--bin p", "t"),
            ("c/p/src/x/y.rs", "--lib", "x::y::t"),
            ("c/p/tests/it/main.rs", "--test it", "t"),
            ("c/p/tests/it/x/mod.rs", "--test it", "x::t"),
            ("c/p/tests/lone.rs", "--test lone", "t"),
        ] {
            let collected = read(path, "// proves D1\n#[test]\nfn t() {}\n");
            let test = &collected.proofs[0].test;
            assert_eq!((test.target.join(" ").as_str(), test.name.as_str()), (target, name), "{path}");
        }
    }

    #[test]
    fn what_only_looks_like_a_proof_is_told() {
        for (text, line) in [
            ("// proves D1\nfn not_a_test() {}", 1),
            ("// proves D1\n#[test]", 1),
            ("// proves D1\nstruct A {}\n#[test]\nfn t() {}", 1),
            ("// proves D1\n// because\n#[test]\nfn t() {}", 1),
            ("// proves D1\n// break a: `b` -> `b`\n#[test]\nfn t() {}", 1),
            ("// proves D1\n// break a: `b`\n#[test]\nfn t() {}", 1),
            ("\n// break a: `b` -> `c`\n#[test]\nfn t() {}", 2),
        ] {
            let collected = read("c/p/src/lib.rs", text);
            assert_eq!(collected.misread.iter().map(|it| it.line).collect::<Vec<_>>(), [line], "{text}");
        }
    }

    #[test]
    fn a_break_is_made_in_the_one_place_where_its_text_stands() {
        let text = "fn a() {}\n    // break c/p/src/a.rs: `fn a` -> `fn b`\n";
        let changed = text.replacen("fn a", "fn b", 1);
        assert_eq!(planned("fn a", "fn b").apply(Some(text)), Ok(changed));
        assert!(planned("fn c", "").apply(Some(text)).is_err_and(|says| says.contains("no longer stands")));
        assert!(planned("a", "").apply(Some("a\na\n")).is_err_and(|says| says.contains("2 times")));
        assert!(planned("a", "").apply(None).is_err());
        let planned = planned("x = 1", r"x = 1\ny = 2");
        assert_eq!(planned.apply(Some("x = 1\n")), Ok("x = 1\\ny = 2\n".to_owned()), "only TOML");
        let manifest = Break { path: "c/p/Cargo.toml".to_owned(), ..planned };
        assert_eq!(manifest.apply(Some("x = 1\n")), Ok("x = 1\ny = 2\n".to_owned()));
    }
}
