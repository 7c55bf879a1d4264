//! The operations on source trees: patches, digests, imports. Each tree lies in the folder of the benchmarks, from which
//! all arms take it.

use super::operations::{ArmPlan, NOTHING, Operation, Role, at_least, at_most};

/// How many files the tree has that is patched.
const TREE: &str = "20000";

const IN_MEMORY: &str = "the writing: what comes out lies in memory, with its digest";
const NO_SYNC: &str =
    "durability; a digest of what was there and of what comes out; a canonical form of the change";
const REWRITE: &str =
    "everything but bytes: each file is read, written beside itself and renamed, and nothing is synced";

const fn ours(name: &'static str, lacks: &'static str, program: Program) -> ArmPlan {
    ArmPlan { name, role: Role::Ours, lacks, program }
}

const fn peer(name: &'static str, lacks: &'static str, program: Program) -> ArmPlan {
    ArmPlan { name, role: Role::Peer, lacks, program }
}

type Program = fn(&super::operations::Ground) -> Result<std::process::Command, crate::failure::Failure>;

static PATCH_ONE: [ArmPlan; 7] = [
    ArmPlan {
        name: "rewrite",
        role: Role::Limit,
        lacks: REWRITE,
        program: |ground| ground.own_on_tree("files/rewrite/1", TREE),
    },
    ours("ambit", IN_MEMORY, |ground| ground.product(&["patch", TREE, "1"])),
    ours("ambit-unread", IN_MEMORY, |ground| ground.product(&["patch", TREE, "1", "unread"])),
    ours("ambit-kept", "", |ground| ground.product(&["patch", TREE, "1", "kept"])),
    peer("git-apply", NO_SYNC, |ground| ground.own_on_tree("git/apply/files/1", TREE)),
    peer("git-apply-cached", NO_SYNC, |ground| ground.own_on_tree("git/apply/cached/1", TREE)),
    peer("git-apply-index", NO_SYNC, |ground| ground.own_on_tree("git/apply/index/1", TREE)),
];

static PATCH_TWENTY: [ArmPlan; 6] = [
    ArmPlan {
        name: "rewrite",
        role: Role::Limit,
        lacks: REWRITE,
        program: |ground| ground.own_on_tree("files/rewrite/20", TREE),
    },
    ours("ambit", IN_MEMORY, |ground| ground.product(&["patch", TREE, "20"])),
    ours("ambit-unread", IN_MEMORY, |ground| ground.product(&["patch", TREE, "20", "unread"])),
    ours("ambit-kept", "", |ground| ground.product(&["patch", TREE, "20", "kept"])),
    peer("git-apply", NO_SYNC, |ground| ground.own_on_tree("git/apply/files/20", TREE)),
    peer("git-apply-index", NO_SYNC, |ground| ground.own_on_tree("git/apply/index/20", TREE)),
];

static PATCH_PROCESS: [ArmPlan; 4] = [
    ours("ambit-apply", "a digest of the whole tree", |ground| {
        ground.process_on_tree("ambit/patch/apply", TREE)
    }),
    ours("ambit-check", "the writing; a digest of the whole tree", |ground| {
        ground.process_on_tree("ambit/patch/check", TREE)
    }),
    peer("git-apply", NO_SYNC, |ground| ground.own_on_tree("git/apply/files/1", TREE)),
    peer("git-apply-index", NO_SYNC, |ground| ground.own_on_tree("git/apply/index/1", TREE)),
];

static TREE_DIGEST: [ArmPlan; 3] = [
    ours("ambit", "looking for what else has changed: it is told which files were written", |ground| {
        ground.product(&["digest", TREE, "spread"])
    }),
    peer("git-status", "a digest of the tree", |ground| ground.own_on_tree("git/status", TREE)),
    peer("git-write-tree", "nothing", |ground| ground.own_on_tree("git/write-tree", TREE)),
];

static TREE_DIGEST_FLAT: [ArmPlan; 4] = [
    ours("1000-files", "", |ground| ground.product(&["digest", "100000", "thinned", "1000"])),
    ours("100000-files", "", |ground| ground.product(&["digest", "100000"])),
    ours("1000-files-spread", "", |ground| {
        ground.product(&["digest", "100000", "thinned", "1000", "spread"])
    }),
    ours("100000-files-spread", "", |ground| ground.product(&["digest", "100000", "spread"])),
];

const fn import(copy: Program, commit: Program, directory: Program, worktree: Program) -> [ArmPlan; 4] {
    const COPY: &str = "everything but bytes: each file is copied, and nothing is synced";
    const DIRECTORY: &str = "git's objects: it imports the directory that the commit was made of";
    [
        ArmPlan { name: "copy", role: Role::Limit, lacks: COPY, program: copy },
        ours("ambit", "", commit),
        ours("ambit-directory", DIRECTORY, directory),
        peer("git-worktree", "durability; SHA-256 digests", worktree),
    ]
}

static IMPORT_1000: [ArmPlan; 4] = import(
    |ground| ground.own_on_tree("files/copy", "1000"),
    |ground| ground.product_on_commit(&["import", "commit", "1000"], "1000"),
    |ground| ground.product_on_tree(&["import", "directory", "1000"], "1000"),
    |ground| ground.own_on_tree("git/worktree", "1000"),
);

static IMPORT: [ArmPlan; 4] = import(
    |ground| ground.own_on_tree("files/copy", TREE),
    |ground| ground.product_on_commit(&["import", "commit", TREE], TREE),
    |ground| ground.product_on_tree(&["import", "directory", TREE], TREE),
    |ground| ground.own_on_tree("git/worktree", TREE),
);

static IMPORT_MEMORY: [ArmPlan; 2] = [
    ours("ambit", "", |ground| ground.product_on_commit(&["import", "commit", "gigabyte"], "gigabyte")),
    ours("ambit-directory", "", |ground| {
        ground.product_on_tree(&["import", "directory", "gigabyte"], "gigabyte")
    }),
];

/// An operation whose calls are counted, with thirty rounds.
const fn operation(name: &'static str, says: &'static str, arms: &'static [ArmPlan]) -> Operation {
    Operation {
        name,
        says,
        rounds: 30,
        performances: 1,
        traced: true,
        isolates: false,
        before: NOTHING,
        arms,
        goals: &[],
    }
}

pub(super) static OPERATIONS: &[Operation] = &[
    Operation {
        goals: &[
            at_least("git-apply", "ambit", 12.0),
            at_least("git-apply", "ambit-unread", 12.0),
            at_least("git-apply-index", "ambit", 60.0),
            at_least("git-apply-index", "ambit-unread", 60.0),
        ],
        ..operation(
            "patch-one",
            "a patch of ten lines in one file of 20,000, in a process that runs, against a process that is started",
            &PATCH_ONE,
        )
    },
    Operation {
        goals: &[at_least("git-apply", "ambit", 15.0), at_least("git-apply", "ambit-unread", 15.0)],
        ..operation(
            "patch-twenty",
            "a patch of ten lines in each of twenty files of 20,000, in a process that runs, against a process that is started",
            &PATCH_TWENTY,
        )
    },
    Operation {
        goals: &[at_least("git-apply-index", "ambit-apply", 2.0)],
        ..operation(
            "patch-process",
            "a patch of ten lines in one file of 20,000, a process started against a process started",
            &PATCH_PROCESS,
        )
    },
    Operation {
        goals: &[at_least("git-status", "ambit", 150.0)],
        ..operation(
            "tree-digest",
            "what a tree of 20,000 files is after ten of them, in ten directories, were written anew",
            &TREE_DIGEST,
        )
    },
    Operation {
        goals: &[
            at_most("100000-files", "1000-files", 1.1),
            at_most("100000-files-spread", "1000-files-spread", 1.1),
        ],
        performances: 5,
        ..operation(
            "tree-digest-flat",
            "the digest after ten edits in one directory, or spread over ten, of a small and of a large tree, where the directories above the edits have as many entries",
            &TREE_DIGEST_FLAT,
        )
    },
    Operation {
        rounds: 10,
        ..operation("import-1000", "1,000 files of 6 KB imported, or put into a work tree", &IMPORT_1000)
    },
    Operation {
        rounds: 3,
        traced: false,
        goals: &[at_least("git-worktree", "ambit", 1.0)],
        ..operation("import", "20,000 files of 6 KB imported, or put into a work tree", &IMPORT)
    },
    Operation {
        rounds: 1,
        traced: false,
        ..operation("import-memory", "8,192 files of 64 KiB and 512 of 1 MiB imported", &IMPORT_MEMORY)
    },
];
