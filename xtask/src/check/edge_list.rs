//! Who may depend on whom. The lists are exact: an edge that is not in them fails, and so does one of them that no
//! manifest has any more.

/// A folder of crates, and the folders that a crate in it may depend on at all.
pub(super) struct Ring {
    pub(super) folder: &'static str,
    pub(super) may_reach: &'static [&'static str],
    pub(super) rule: &'static str,
}

/// The rings, outermost last. An edge must fit its ring and stand in [`EDGES`].
pub(super) const RINGS: &[Ring] = &[
    Ring {
        folder: "crates/domain",
        may_reach: &["crates/domain"],
        rule: "the domain depends on nothing but itself",
    },
    Ring {
        folder: "crates/ports",
        may_reach: &["crates/domain"],
        rule: "ports speak the domain's words alone",
    },
    Ring {
        folder: "crates/mechanisms",
        may_reach: &["crates/domain", "crates/ports"],
        rule: "a mechanism is what adapters are built from, and knows none of them",
    },
    Ring {
        folder: "crates/adapters",
        may_reach: &["crates/domain", "crates/ports", "crates/mechanisms"],
        rule: "an adapter knows its port and no other adapter",
    },
    Ring {
        folder: "crates/control-plane",
        may_reach: &["crates/domain", "crates/ports", "crates/control-plane"],
        rule: "the control plane speaks to ports, never to an adapter",
    },
    Ring {
        folder: "crates/testing",
        may_reach: &["crates/domain", "crates/ports", "crates/control-plane"],
        rule: "what tests share knows no adapter",
    },
    Ring { folder: "crates/bins", may_reach: &["crates"], rule: "a binary composes what the rings offer" },
    Ring { folder: "xtask", may_reach: &[], rule: "the tasks build without the product" },
];

/// What dev-dependencies may reach beyond their crate's ring.
pub(super) const DEV_MAY_REACH: &[&str] =
    &["crates/testing", "crates/adapters", "crates/domain", "crates/ports"];

/// What any test may reach.
pub(super) const FOR_EVERY_TEST: &str = "crates/testing";

/// A crate, and what of this workspace it depends on.
pub(super) type Edges = (&'static str, &'static [&'static str]);

/// Normal and build dependencies. A crate that depends on nothing of ours stands here too.
pub(super) const EDGES: &[Edges] = &[
    ("ambit-ids", &[]),
    ("ambit-canonical", &["ambit-ids"]),
    ("ambit-policy", &["ambit-ids", "ambit-canonical"]),
    ("ambit-gates", &["ambit-ids", "ambit-canonical"]),
    ("ambit-redaction", &["ambit-ids"]),
    ("ambit-revision", &["ambit-ids"]),
    ("ambit-blueprint", &["ambit-ids", "ambit-canonical", "ambit-policy", "ambit-gates"]),
    ("ambit-oracle", &["ambit-ids", "ambit-policy"]),
    (
        "ambit-run",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-blueprint",
            "ambit-redaction",
        ],
    ),
    (
        "ambit-evidence",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-redaction",
            "ambit-revision",
            "ambit-run",
        ],
    ),
    (
        "ambit-ports",
        &["ambit-ids", "ambit-canonical", "ambit-policy", "ambit-gates", "ambit-redaction", "ambit-run"],
    ),
    ("ambit-advisories", &["ambit-ports"]),
    ("ambit-capture", &["ambit-ids", "ambit-redaction", "ambit-ports"]),
    ("ambit-control-groups", &["ambit-ports"]),
    ("ambit-outputs", &["ambit-ids", "ambit-ports"]),
    ("ambit-ownership", &["ambit-ids", "ambit-canonical", "ambit-ports"]),
    ("ambit-measurements", &["ambit-ids", "ambit-canonical", "ambit-ports"]),
    ("ambit-probes", &["ambit-ids", "ambit-gates", "ambit-run", "ambit-ports"]),
    ("ambit-staging", &["ambit-ids", "ambit-ports"]),
    ("ambit-system-calls", &[]),
    ("ambit-verdict", &["ambit-gates"]),
    (
        "ambit-agent-models",
        &["ambit-ids", "ambit-canonical", "ambit-blueprint", "ambit-redaction", "ambit-ports"],
    ),
    (
        "ambit-agent-scripted",
        &["ambit-ids", "ambit-canonical", "ambit-blueprint", "ambit-redaction", "ambit-ports"],
    ),
    ("ambit-blobs", &["ambit-ids", "ambit-ports"]),
    ("ambit-git-export", &["ambit-ids", "ambit-revision", "ambit-ports"]),
    ("ambit-git-import", &["ambit-ids", "ambit-revision", "ambit-ports"]),
    ("ambit-git-mirror", &["ambit-ids"]),
    ("ambit-images", &["ambit-ids", "ambit-canonical", "ambit-ports"]),
    ("ambit-policy-cedar", &["ambit-ids", "ambit-policy", "ambit-blueprint", "ambit-ports"]),
    ("ambit-policy-rules", &["ambit-ids", "ambit-policy", "ambit-blueprint", "ambit-ports"]),
    ("ambit-project-survey", &["ambit-ids", "ambit-canonical", "ambit-blueprint"]),
    ("ambit-runtime-system", &["ambit-ids", "ambit-ports"]),
    ("ambit-sandbox-guest", &["ambit-system-calls"]),
    (
        "ambit-sandbox-linux",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-gates",
            "ambit-run",
            "ambit-ports",
            "ambit-advisories",
            "ambit-capture",
            "ambit-control-groups",
            "ambit-outputs",
            "ambit-ownership",
            "ambit-measurements",
            "ambit-probes",
            "ambit-staging",
            "ambit-sandbox-guest",
            "ambit-system-calls",
            "ambit-verdict",
        ],
    ),
    (
        "ambit-sandbox-oci",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-gates",
            "ambit-run",
            "ambit-ports",
            "ambit-advisories",
            "ambit-capture",
            "ambit-control-groups",
            "ambit-measurements",
            "ambit-outputs",
            "ambit-ownership",
            "ambit-probes",
            "ambit-staging",
            "ambit-system-calls",
            "ambit-verdict",
        ],
    ),
    ("ambit-signer-file", &["ambit-ids", "ambit-ports"]),
    ("ambit-source-directory", &["ambit-ids", "ambit-revision", "ambit-ports"]),
    ("ambit-store-sqlite", &["ambit-ids", "ambit-canonical", "ambit-ports"]),
    ("ambit-journal", &["ambit-ids", "ambit-canonical", "ambit-evidence", "ambit-ports"]),
    ("ambit-revisions", &["ambit-ids", "ambit-revision", "ambit-ports"]),
    (
        "ambit-projects",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-blueprint",
            "ambit-run",
            "ambit-evidence",
            "ambit-ports",
            "ambit-journal",
        ],
    ),
    (
        "ambit-sandboxes",
        &["ambit-ids", "ambit-canonical", "ambit-blueprint", "ambit-gates", "ambit-run", "ambit-ports"],
    ),
    (
        "ambit-broker",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-revision",
            "ambit-blueprint",
            "ambit-oracle",
            "ambit-redaction",
            "ambit-run",
            "ambit-ports",
            "ambit-revisions",
            "ambit-sandboxes",
        ],
    ),
    (
        "ambit-orchestrator",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-redaction",
            "ambit-revision",
            "ambit-blueprint",
            "ambit-run",
            "ambit-evidence",
            "ambit-ports",
            "ambit-journal",
            "ambit-revisions",
            "ambit-sandboxes",
            "ambit-broker",
        ],
    ),
    (
        "ambit-verify-trace",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-redaction",
            "ambit-revision",
            "ambit-blueprint",
            "ambit-run",
            "ambit-evidence",
            "ambit-ports",
            "ambit-journal",
            "ambit-revisions",
            "ambit-sandboxes",
            "ambit-broker",
        ],
    ),
    (
        "ambit-conformance",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-blueprint",
            "ambit-policy",
            "ambit-gates",
            "ambit-run",
            "ambit-ports",
        ],
    ),
    ("ambit-fuzz", &["ambit-ids", "ambit-gates", "ambit-revision"]),
    ("ambit-model-server", &[]),
    (
        "ambit-simulation",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-redaction",
            "ambit-revision",
            "ambit-blueprint",
            "ambit-run",
            "ambit-evidence",
            "ambit-ports",
            "ambit-journal",
            "ambit-revisions",
            "ambit-projects",
            "ambit-sandboxes",
            "ambit-broker",
            "ambit-orchestrator",
        ],
    ),
    (
        "ambit",
        &[
            "ambit-ids",
            "ambit-canonical",
            "ambit-policy",
            "ambit-gates",
            "ambit-redaction",
            "ambit-revision",
            "ambit-blueprint",
            "ambit-oracle",
            "ambit-run",
            "ambit-evidence",
            "ambit-ports",
            "ambit-agent-models",
            "ambit-agent-scripted",
            "ambit-blobs",
            "ambit-git-export",
            "ambit-git-import",
            "ambit-git-mirror",
            "ambit-images",
            "ambit-measurements",
            "ambit-policy-cedar",
            "ambit-policy-rules",
            "ambit-project-survey",
            "ambit-runtime-system",
            "ambit-sandbox-linux",
            "ambit-sandbox-oci",
            "ambit-signer-file",
            "ambit-source-directory",
            "ambit-store-sqlite",
            "ambit-journal",
            "ambit-revisions",
            "ambit-projects",
            "ambit-sandboxes",
            "ambit-broker",
            "ambit-orchestrator",
            "ambit-verify-trace",
        ],
    ),
    ("xtask", &[]),
];

/// Dev-dependencies on crates of ours that the crate does not have as normal ones; what lies in [`FOR_EVERY_TEST`] needs
/// no line.
pub(super) const DEV_EDGES: &[Edges] = &[
    ("ambit", &["ambit-sandbox-guest"]),
    ("ambit-agent-models", &["ambit-run"]),
    ("ambit-broker", &["ambit-source-directory"]),
    ("ambit-git-export", &["ambit-blobs", "ambit-git-import"]),
    ("ambit-git-import", &["ambit-blobs"]),
    ("ambit-images", &["ambit-gates", "ambit-runtime-system", "ambit-sandbox-linux"]),
    ("ambit-orchestrator", &["ambit-policy-rules"]),
    ("ambit-policy-cedar", &["ambit-policy-rules"]),
    ("ambit-sandbox-linux", &["ambit-runtime-system"]),
    ("ambit-sandbox-oci", &["ambit-runtime-system", "ambit-sandbox-linux"]),
    ("ambit-revisions", &["ambit-blobs"]),
    (
        "ambit-verify-trace",
        &[
            "ambit-blobs",
            "ambit-policy-rules",
            "ambit-runtime-system",
            "ambit-signer-file",
            "ambit-store-sqlite",
            "ambit-projects",
            "ambit-orchestrator",
        ],
    ),
];

/// What of outside the domain may depend on. Nothing here performs I/O, waits, or reads a clock.
pub(super) const DOMAIN_EXTERNAL: &[Edges] = &[
    ("ambit-ids", &["globset", "serde", "sha2", "thiserror"]),
    ("ambit-canonical", &["serde", "serde_json", "serde_json_canonicalizer", "thiserror"]),
    ("ambit-policy", &["serde", "thiserror"]),
    ("ambit-gates", &["quick-xml", "serde", "serde_json", "thiserror"]),
    ("ambit-redaction", &["serde", "zeroize"]),
    ("ambit-revision", &["memchr", "serde", "similar", "thiserror", "unicode-normalization"]),
    (
        "ambit-blueprint",
        &["saphyr-parser", "serde", "serde_json", "serde_path_to_error", "strsim", "thiserror"],
    ),
    (
        "ambit-oracle",
        &[
            "saphyr-parser",
            "serde_json",
            "thiserror",
            "toml",
            "tree-sitter",
            "tree-sitter-go",
            "tree-sitter-java",
            "tree-sitter-javascript",
            "tree-sitter-python",
            "tree-sitter-rust",
            "tree-sitter-typescript",
        ],
    ),
    ("ambit-run", &["serde", "serde_json", "thiserror"]),
    ("ambit-evidence", &["ed25519-dalek", "serde", "serde_json", "thiserror"]),
];

/// A dependency with a price, and the only crates that may name it.
pub(super) struct Confined {
    pub(super) dependency: &'static str,
    pub(super) to: &'static [&'static str],
    pub(super) why: &'static str,
}

/// Dependencies that a build, an audit or a privilege pays for.
pub(super) const CONFINED: &[Confined] = &[
    Confined {
        dependency: "rusqlite",
        to: &["ambit-store-sqlite"],
        why: "it compiles SQLite; the rest sees a store",
    },
    Confined {
        dependency: "cedar-policy",
        to: &["ambit-policy-cedar"],
        why: "the one heavy engine; the rest sees a port",
    },
    Confined {
        dependency: "ed25519-dalek",
        to: &[
            "ambit-signer-file",
            "ambit-evidence",
            "ambit-projects",
            "ambit-conformance",
            "ambit-simulation",
        ],
        why: "one place signs; few verify",
    },
    Confined {
        dependency: "object_store",
        to: &["ambit-blobs"],
        why: "cloud clients stay behind the blob port",
    },
    Confined {
        dependency: "linux-raw-sys",
        to: &["ambit-sandbox-linux", "ambit-sandbox-guest", "ambit-system-calls"],
        why: "the kernel's own structures are one adapter's, and its numbers of calls one table's",
    },
    Confined {
        dependency: "reqwest",
        to: &["ambit-agent-models"],
        why: "the one place that speaks to the outside; the rest sees a port",
    },
    Confined { dependency: "axum", to: &["ambit-server"], why: "HTTP has one home" },
    Confined { dependency: "clap", to: &["ambit"], why: "only a binary reads a command line" },
    Confined {
        dependency: "toml",
        to: &["ambit-images", "ambit-oracle", "ambit-project-survey", "xtask"],
        why: "documents of ours are JSON; only manifests are read so",
    },
];
