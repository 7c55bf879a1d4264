//! What must be seen of each case, group by group.

mod ambient;
mod artifacts;
mod files;
mod kernel;
mod lifetime;
mod network;
mod output;
mod resources;

use super::row::Row;

/// Prints how many dead processes nobody has taken note of, in Python.
pub(super) const ZOMBIES: &str = "import glob\n\
    print(sum(\"State:\\tZ\" in open(f).read() for f in glob.glob(\"/proc/[0-9]*/status\")))";

/// Every row.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    let groups: [&'static [Row]; 8] = [
        &ambient::ROWS,
        &files::ROWS,
        &kernel::ROWS,
        &resources::ROWS,
        &output::ROWS,
        &lifetime::ROWS,
        &network::ROWS,
        &artifacts::ROWS,
    ];
    groups.into_iter().flatten()
}
