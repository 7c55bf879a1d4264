use super::lines::write_hunks;

/// The hunks of a unified diff that lead from `before` to `after`, from the first `@@` on and with three lines of context;
/// empty where both are the same. Lines are what ends at a line feed, whatever else they hold.
#[must_use]
pub fn hunks(before: &[u8], after: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if before != after {
        write_hunks(before, after, &mut text);
    }
    text
}
