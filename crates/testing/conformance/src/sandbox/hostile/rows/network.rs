//! Whom a command can reach, and who can reach it.

use crate::sandbox::hostile::row::{Beside, Row, row};

const ENETUNREACH: u64 = 101;
const EHOSTUNREACH: u64 = 113;

pub(super) static ROWS: [Row; 6] = [
    row(&["net-ifaces"], |seen| {
        let mut names = seen.stdout.split_whitespace();
        names.next() == Some("lo") && names.all(|name| name == "lo")
    }),
    // Whoever waited for an answer in vain has no number to tell.
    row(&["net-public", "net-metadata"], |seen| {
        seen.succeeded()
            && seen.number("no").is_some_and(|errno| [ENETUNREACH, EHOSTUNREACH].contains(&errno))
    }),
    row(&["net-dns"], |seen| seen.succeeded() && seen.last() == "no"),
    // That nobody knocked is seen outside.
    row(&["net-host-loopback"], |seen| seen.succeeded() && seen.stdout.starts_with("no ")),
    row(&["net-listen"], |seen| seen.succeeded() && seen.last() == "listened" && !seen.reached)
        .beside(Beside::Connections(8099)),
    row(&["net-proxy-self"], |seen| seen.exited() && seen.whole.is_empty()),
];
