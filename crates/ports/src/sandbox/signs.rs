use std::collections::BTreeMap;

use ambit_gates::ResourceLimit;
use serde::{Deserialize, Serialize};

/// What a command was seen to try. All of it was refused: these are signs, not escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EscapeSigns {
    /// How often a call was refused that no honest program makes, by what it was meant to reach. A class without any is
    /// left out. A count stops at its highest value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused_calls: BTreeMap<RefusedCall, u32>,
    /// How often each limit was met; 1 where that is not counted. Honest commands meet limits as well.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limit_hits: BTreeMap<ResourceLimit, u32>,
}

/// What a refused call was meant to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedCall {
    /// Another namespace.
    Namespace,
    /// Other mounts or another root.
    Mount,
    /// Code in the kernel, or another kernel.
    Module,
    /// The kernel's keys.
    Keyring,
    /// Programs in the kernel, and its counters.
    Bpf,
    /// The memory or the descriptors of another process.
    Ptrace,
    /// Sockets below or beside the Internet's protocols.
    RawSocket,
    /// The clock of the machine.
    Clock,
    /// Anything else that belongs to the machine as a whole.
    Other,
}
