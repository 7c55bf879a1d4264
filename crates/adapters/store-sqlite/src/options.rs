use std::time::Duration;

use ambit_ids::ByteCount;

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// How long an operation waits for another process that holds the file, before [`StoreError::Busy`](ambit_ports::store::StoreError::Busy).
    pub busy_wait: Duration,
    /// How large the file may become, before [`StoreError::NoSpace`](ambit_ports::store::StoreError::NoSpace); the log beside it not counted. `None` leaves
    /// it to the disk.
    pub size_limit: Option<ByteCount>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { busy_wait: Duration::from_secs(10), size_limit: None }
    }
}
