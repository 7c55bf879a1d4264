//! Whom a command can reach, and who can reach it.

use std::time::Duration;

use crate::sandbox::hostile::row::{Beside, Row, row};

const AT_ONCE: Duration = Duration::from_secs(2);

pub(super) static ROWS: [Row; 5] = [
    row(&["net-ifaces"], |seen| {
        let mut names = seen.stdout.split_whitespace();
        names.next() == Some("lo") && names.all(|name| name == "lo")
    }),
    row(&["net-public", "net-metadata", "net-dns"], |seen| {
        seen.succeeded() && seen.stdout.starts_with("no") && seen.within(AT_ONCE)
    }),
    // That nobody knocked is seen outside.
    row(&["net-host-loopback"], |seen| seen.succeeded() && seen.stdout.starts_with("no ")),
    row(&["net-listen"], |seen| seen.succeeded() && seen.last() == "listened" && !seen.reached)
        .beside(Beside::Connections(8099)),
    row(&["net-proxy-self"], |seen| seen.exited() && seen.whole.is_empty()),
];
