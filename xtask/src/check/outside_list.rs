//! What of outside the workspace who may depend on.

use super::edge_list::Edges;

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
    ("ambit-transparency", &["base64", "ed25519-dalek", "thiserror"]),
    ("ambit-attestation", &["base64", "p256", "serde", "serde_json", "thiserror"]),
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
            "ambit-transparency",
            "ambit-projects",
            "ambit-conformance",
            "ambit-simulation",
        ],
        why: "one place signs; few verify",
    },
    Confined { dependency: "p256", to: &["ambit-attestation"], why: "statements are verified in one place" },
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
