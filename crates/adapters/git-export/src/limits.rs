//! The limits of this crate.

/// The longest name of an author. Where a mail has a longer one, git takes the address for the name.
pub const AUTHOR_NAME_BYTES: usize = 60;
/// The longest address of an author.
pub const AUTHOR_MAIL_BYTES: usize = 254;
/// The longest name of a branch.
pub const BRANCH_BYTES: usize = 200;
/// The longest message, with its subject.
pub const MESSAGE_BYTES: usize = 16 << 10;
/// The longest subject.
pub const SUBJECT_BYTES: usize = 400;
/// The longest reason why a revision does not stand.
pub const STANDING_BYTES: usize = 400;
/// The largest mail. Git applies no patch of 1 GiB.
pub const MAIL_BYTES: u64 = 512 << 20;
/// The longest line of a mail, without its end (RFC 5322, section 2.1.1).
pub const MAIL_LINE_BYTES: usize = 998;
