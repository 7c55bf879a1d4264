//! What a test script of `package.json` comes to: the commands behind it, each of which can be a gate of its own.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The script that it stands in.
    pub(super) name: String,
    /// The command as it is written there.
    pub(super) command: String,
}

/// How deep scripts that call scripts are followed.
const DEPTH: usize = 4;
/// The most commands that become gates of their own.
const STEPS: usize = 6;
/// What a shell would read as more than one plain command after the other.
const SHELL: [char; 8] = ['|', ';', '\n', '(', ')', '`', '<', '>'];
/// What comes after these depends on them.
const STATEFUL: [&str; 4] = ["cd", "export", "set", "source"];
/// Programs that look at source and run nothing of it.
const CHECKERS: [&str; 10] =
    ["eslint", "standard", "xo", "tsc", "tsd", "tstyche", "biome", "prettier", "attw", "publint"];
/// What the name of a script begins with that only checks, so that nothing after it needs what it made.
const CHECKS: [&str; 7] = ["test", "unit", "lint", "check", "type", "tsc", "style"];
/// Programs that an image holds, or its shell.
const PROVIDED: [&str; 12] =
    ["node", "npm", "npx", "pnpm", "yarn", "make", "sh", "env", "echo", "true", "exit", "test"];

impl Step {
    /// Whether it only looks at the source, and is cheap.
    pub(super) fn is_check(&self) -> bool {
        CHECKERS.contains(&self.program())
    }

    /// Whether it writes what a later command may read.
    fn makes(&self) -> bool {
        self.program() == "tsc" && !self.command.contains("--noEmit")
    }

    /// What it starts, without the variables that are set for it.
    pub(super) fn program(&self) -> &str {
        let mut words = self.command.split_whitespace().skip_while(|word| word.contains('='));
        words.next().unwrap_or_default()
    }

    /// Whether its program is one of the packages, and none of those that are installed.
    pub(super) fn lacks(&self, installed: &BTreeSet<String>) -> bool {
        let program = self.program();
        let is_name = !program.is_empty() && !program.contains(['/', '$', '"', '\'']);
        is_name && !PROVIDED.contains(&program) && !installed.contains(program)
    }
}

/// The commands of the script `test` where each can be run alone; `None` where what comes later needs what came before, or
/// nobody can tell.
pub(super) fn steps(scripts: &Map<String, Value>) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    follow(scripts, "test", DEPTH, &mut steps)?;
    let is_check = |step: &Step| CHECKS.iter().any(|check| step.name.starts_with(check)) && !step.makes();
    let is_alone = steps.len() == 1 || steps.iter().all(is_check);
    (steps.len() <= STEPS && is_alone).then_some(steps)
}

fn follow(scripts: &Map<String, Value>, name: &str, depth: usize, steps: &mut Vec<Step>) -> Option<()> {
    let script = |name: &str| scripts.get(name).and_then(Value::as_str).map(str::trim);
    let has = |name: String| script(&name).is_some_and(|text| !text.is_empty());
    if depth == 0 || steps.len() > STEPS || has(format!("pre{name}")) || has(format!("post{name}")) {
        return None;
    }
    for command in commands(script(name)?)? {
        match called(command).filter(|called| scripts.contains_key(*called)) {
            Some(called) => follow(scripts, called, depth - 1, steps)?,
            None => steps.push(Step { name: name.to_owned(), command: command.to_owned() }),
        }
    }
    Some(())
}

/// The commands between `&&`, where there is nothing else that a shell would take apart.
fn commands(script: &str) -> Option<Vec<&str>> {
    let (mut quote, mut start, mut found) = (None, 0, Vec::new());
    for (at, c) in script.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '&') if script[at..].starts_with("&&") => {
                found.push(script[start..at].trim());
                start = at + 2;
            }
            (None, '&') if at + 1 == start => {}
            (None, '&' | '\\') => return None,
            (None, _) if SHELL.contains(&c) => return None,
            (None, _) => {}
        }
    }
    found.push(script[start..].trim());
    let is_plain = |command: &&str| {
        let first = command.split_whitespace().next().unwrap_or_default();
        !first.is_empty() && !STATEFUL.contains(&first)
    };
    (quote.is_none() && found.iter().all(is_plain)).then_some(found)
}

/// The script that a command calls and does nothing else.
fn called(command: &str) -> Option<&str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        ["npm" | "pnpm" | "yarn", "run" | "run-script", name]
        | ["npm", "run", "-s" | "--silent", name]
        | ["pnpm" | "yarn", name] => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(scripts: &Value) -> Option<Vec<(String, String)>> {
        let found = steps(scripts.as_object().unwrap())?;
        Some(found.into_iter().map(|step| (step.name, step.command)).collect())
    }

    fn named(steps: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(steps.iter().map(|(name, command)| ((*name).to_owned(), (*command).to_owned())).collect())
    }

    #[test]
    fn scripts_that_call_scripts_come_to_the_commands_behind_them() {
        let chained = json!({"test": "npm run test:unit && npm run test:types", "test:unit": "c8 tape 'test/*.js'",
            "test:types": "tstyche"});
        assert_eq!(of(&chained), named(&[("test:unit", "c8 tape 'test/*.js'"), ("test:types", "tstyche")]));
        let direct = json!({"test": "standard && tape \"a && b\""});
        assert_eq!(of(&direct), named(&[("test", "standard"), ("test", "tape \"a && b\"")]));
        let unknown = json!({"test": "yarn jest"});
        assert_eq!(of(&unknown), named(&[("test", "yarn jest")]));
    }

    #[test]
    fn what_may_depend_on_what_came_before_stays_one_command() {
        for scripts in [
            json!({"test": "npm run build && mocha", "build": "rollup -c"}),
            json!({"test": "tsc && tape x"}),
            json!({"test": "tape x", "pretest": "rollup -c"}),
            json!({"test": "npm run test:unit", "test:unit": "tape x", "posttest:unit": "rm x"}),
        ] {
            assert_eq!(of(&scripts), None, "{scripts}");
        }
        for script in [
            "cd a && tape",
            "a; b",
            "a || b",
            "a | b",
            "(a)",
            "a & b",
            "a > b",
            "a 'b",
            "a\\ b",
            "npm run test",
            "",
            "a && b && c && d && e && f && g",
        ] {
            assert_eq!(of(&json!({"test": script})), None, "{script}");
        }
    }

    #[test]
    fn only_a_program_of_a_package_can_be_lacking() {
        let installed = BTreeSet::from(["tape".to_owned()]);
        let lacks =
            |command: &str| Step { name: String::new(), command: command.to_owned() }.lacks(&installed);
        assert!(lacks("c8 tape x") && lacks("A=b tsc"));
        assert!(!lacks("tape x") && !lacks("node --test") && !lacks("./run.sh") && !lacks("A=b tape"));
    }
}
