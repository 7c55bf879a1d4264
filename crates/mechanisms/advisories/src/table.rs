//! The defects, each with the versions that mended it.

use crate::version::Version;

/// A defect of a component.
pub(crate) struct Defect {
    /// Its name in the list of common vulnerabilities and exposures.
    pub(crate) id: &'static str,
    /// What a program could do by it.
    pub(crate) what: &'static str,
    /// The first branch that had it.
    since: (u32, u32),
    /// The release that mended each branch, ascending. Branches after the last never had it, or were mended before their
    /// first release; others between them were left as they were.
    mended: &'static [Version],
}

impl Defect {
    /// Whether a version has it.
    pub(crate) fn affects(&self, version: Version) -> bool {
        let Some(newest) = self.mended.last() else { return false };
        let branch = version.branch();
        if branch < self.since || branch > newest.branch() {
            return false;
        }
        self.mending(version).is_none_or(|mended| version < mended)
    }

    /// What mends it: the release of the same branch, or else that of the newest.
    pub(crate) fn mended_for(&self, version: Version) -> String {
        match self.mending(version).or_else(|| self.mended.last().copied()) {
            Some(mended) => format!("{mended} or later"),
            None => "a later version".to_owned(),
        }
    }

    fn mending(&self, version: Version) -> Option<Version> {
        self.mended.iter().copied().find(|mended| mended.branch() == version.branch())
    }
}

const fn v(major: u32, minor: u32, patch: u32) -> Version {
    Version::of(major, minor, patch)
}

const ALWAYS: (u32, u32) = (0, 0);

/// Of the kernel as upstream releases it.
pub(crate) const KERNEL: &[Defect] = &[
    Defect {
        id: "CVE-2022-0185",
        what: "an overflow in the mount API makes a user of a user namespace root",
        since: (5, 1),
        mended: &[v(5, 4, 173), v(5, 10, 93), v(5, 15, 16), v(5, 16, 2)],
    },
    Defect {
        id: "CVE-2022-0492",
        what: "the release agent of control groups runs a program on the host",
        since: ALWAYS,
        mended: &[v(5, 4, 177), v(5, 10, 97), v(5, 15, 20), v(5, 16, 6)],
    },
    Defect {
        id: "CVE-2022-0847",
        what: "pipes write to files that can only be read, images among them",
        since: (5, 8),
        mended: &[v(5, 10, 102), v(5, 15, 25), v(5, 16, 11)],
    },
    Defect {
        id: "CVE-2022-29582",
        what: "a use after free in io_uring makes a user root",
        since: (5, 10),
        mended: &[v(5, 10, 111), v(5, 15, 34), v(5, 16, 20), v(5, 17, 3)],
    },
    Defect {
        id: "CVE-2022-32250",
        what: "a use after free in nf_tables makes a user of a user namespace root",
        since: ALWAYS,
        mended: &[v(5, 4, 198), v(5, 10, 120), v(5, 15, 45), v(5, 17, 13), v(5, 18, 2)],
    },
    Defect {
        id: "CVE-2022-2588",
        what: "a use after free in the route classifier makes a user of a user namespace root",
        since: ALWAYS,
        mended: &[v(5, 4, 211), v(5, 10, 137), v(5, 15, 61), v(5, 18, 18), v(5, 19, 2)],
    },
    Defect {
        id: "CVE-2022-2602",
        what: "a use after free between io_uring and Unix sockets makes a user root",
        since: (5, 1),
        mended: &[v(5, 4, 220), v(5, 10, 150), v(5, 15, 75), v(5, 19, 17), v(6, 0, 3)],
    },
    Defect {
        id: "CVE-2023-0386",
        what: "an overlay copies a set-user-id file of a user namespace to the host",
        since: (5, 11),
        mended: &[v(5, 15, 91), v(6, 1, 9)],
    },
    Defect {
        id: "CVE-2023-2598",
        what: "io_uring reaches memory beyond a registered buffer",
        since: (6, 3),
        mended: &[v(6, 3, 2)],
    },
    Defect {
        id: "CVE-2023-32233",
        what: "anonymous sets of nf_tables make a user of a user namespace root",
        since: ALWAYS,
        mended: &[v(5, 4, 243), v(5, 10, 180), v(5, 15, 111), v(6, 1, 28), v(6, 2, 15), v(6, 3, 2)],
    },
    Defect {
        id: "CVE-2023-3269",
        what: "a stack that grows makes a user root",
        since: (6, 1),
        mended: &[v(6, 1, 37), v(6, 3, 11), v(6, 4, 1)],
    },
    Defect {
        id: "CVE-2023-35001",
        what: "nf_tables reads and writes beyond its registers",
        since: ALWAYS,
        mended: &[v(5, 4, 251), v(5, 10, 188), v(5, 15, 121), v(6, 1, 39), v(6, 4, 4)],
    },
    Defect {
        id: "CVE-2024-0582",
        what: "io_uring leaves a user mappings of memory that was freed",
        since: (6, 4),
        mended: &[v(6, 6, 5)],
    },
    Defect {
        id: "CVE-2024-1086",
        what: "verdicts of nf_tables free memory twice and make a user of a user namespace root",
        since: ALWAYS,
        mended: &[v(5, 4, 269), v(5, 10, 210), v(5, 15, 149), v(6, 1, 76), v(6, 6, 15), v(6, 7, 3)],
    },
];

/// Of the kernels of Ubuntu alone: what they add to overlays. Each with the base and the first build that was mended.
pub(crate) const UBUNTU: &[(Defect, (&str, u32))] = &[
    (OVERLAY_TRUSTED, ("6.2.0", 26)),
    (OVERLAY_TRUSTED, ("5.19.0", 50)),
    (OVERLAY_COPY_UP, ("6.2.0", 26)),
    (OVERLAY_COPY_UP, ("5.19.0", 50)),
];

const OVERLAY_TRUSTED: Defect = Defect {
    id: "CVE-2023-2640",
    what: "an overlay of a user namespace sets privileged attributes on files of the host",
    since: ALWAYS,
    mended: &[],
};

const OVERLAY_COPY_UP: Defect = Defect {
    id: "CVE-2023-32629",
    what: "an overlay skips a check when it copies, and makes a user root",
    since: ALWAYS,
    mended: &[],
};

const fn candidate(major: u32, minor: u32, patch: u32, candidate: u32) -> Version {
    Version { major, minor, patch, candidate }
}

const RUNC_2025: &[Version] = &[v(1, 2, 8), v(1, 3, 3), candidate(1, 4, 0, 3)];

/// Of runc.
pub(crate) const RUNC: &[Defect] = &[
    Defect {
        id: "CVE-2019-5736",
        what: "the runtime's own program can be overwritten from inside a container",
        since: ALWAYS,
        mended: &[candidate(1, 0, 0, 7)],
    },
    Defect {
        id: "CVE-2021-30465",
        what: "the target of a mount can be swapped for a link, and the host's files mounted",
        since: ALWAYS,
        mended: &[candidate(1, 0, 0, 95)],
    },
    Defect {
        id: "CVE-2024-21626",
        what: "a descriptor of the host is left open, and with it the host's files",
        since: (1, 0),
        mended: &[v(1, 1, 12)],
    },
    Defect {
        id: "CVE-2025-31133",
        what: "masked paths can be replaced, and files of the host's /proc written",
        since: ALWAYS,
        mended: RUNC_2025,
    },
    Defect {
        id: "CVE-2025-52565",
        what: "the mount of the console can be redirected to files of the host's /proc",
        since: (1, 0),
        mended: RUNC_2025,
    },
    Defect {
        id: "CVE-2025-52881",
        what: "writes to /proc can be redirected, and labels of security modules left out",
        since: ALWAYS,
        mended: RUNC_2025,
    },
];

/// Of crun.
pub(crate) const CRUN: &[Defect] = &[
    Defect {
        id: "CVE-2022-27650",
        what: "containers start with capabilities that they inherit",
        since: ALWAYS,
        mended: &[v(1, 4, 4)],
    },
    Defect {
        id: "CVE-2025-24965",
        what: "an image makes the krun handler write files of the host",
        since: ALWAYS,
        mended: &[v(1, 20, 0)],
    },
];

/// Of runsc, whose releases are named by their day. The advisory names no release; whatever came after it has the mend.
pub(crate) const RUNSC_MENDED: (Defect, u32) = (
    Defect {
        id: "CVE-2025-2713",
        what: "it starts with more rights than its user has, and reads files with them",
        since: ALWAYS,
        mended: &[],
    },
    20_250_328,
);
