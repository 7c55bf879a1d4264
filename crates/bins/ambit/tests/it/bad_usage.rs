//! Command lines that are none, as people see them.

use crate::cases::bare;
use crate::rig::Answered;

#[test]
fn what_is_wrong_with_a_command_line_goes_on_at_words() {
    let dir = std::env::temp_dir();
    for words in [
        &["sandbox", "run"][..],
        &["patch", "apply", "--base", "."],
        &["revision", "import", "--at", "main"],
        &["revision", "export", "rev-1", "--as", "letter"],
        &["run", "start", "--max-steps", "many"],
        &["run", "start", "goal", "--name", "n", "--blueprint", "b", "--base", "rev-0"],
        &["nonsense"],
    ] {
        let told = |columns: &str| {
            let mut command = bare(&dir);
            Answered::of(command.args(words).env("COLUMNS", columns).output().unwrap())
        };
        let whole = told("1000");
        assert_eq!(whole.code, 2, "{whole:?}");
        let words_of = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for columns in [40, 80] {
            let folded = told(&columns.to_string()).err;
            assert_eq!(words_of(&folded), words_of(&whole.err), "{words:?}: {folded}");
            let wide = |line: &&str| line.chars().count() > columns && line.split_whitespace().count() > 1;
            assert_eq!(folded.lines().find(wide), None, "{words:?}: {folded}");
        }
    }
}
