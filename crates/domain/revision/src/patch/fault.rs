use ambit_ids::{GivenPath, PathError, RepoPath, limits};

/// Why bytes are not a patch that is understood as a whole. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {fault}. Nothing was changed")]
pub struct PatchError {
    /// The line of the patch, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: PatchFault,
}

impl PatchError {
    /// The fault in the line with this index, counted from 0.
    pub(super) const fn at(index: usize, fault: PatchFault) -> Self {
        Self { line: index + 1, fault }
    }

    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.fault.code()
    }
}

/// What is wrong with a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchFault {
    /// Past [`limits::PATCH_BYTES`].
    #[error("the patch has {0} bytes, more than the {limit} allowed; propose it in parts", limit = limits::PATCH_BYTES)]
    TooLarge(usize),
    /// Past [`limits::PATCH_FILES`].
    #[error("the patch touches more than {} files; propose it in parts", limits::PATCH_FILES)]
    TooManyFiles,
    /// Past [`limits::PATCH_HUNKS`].
    #[error("the patch has more than {} hunks; propose it in parts", limits::PATCH_HUNKS)]
    TooManyHunks,
    /// It asks for nothing.
    #[error("there is no change in the patch")]
    Empty,
    /// It starts with a byte order mark.
    #[error("the patch starts with a byte order mark; leave it out")]
    ByteOrderMark,
    /// It holds a NUL byte.
    #[error("the patch holds a NUL byte, and binary files cannot be patched")]
    Nul,
    /// A header line ends with a carriage return.
    #[error("a header line ends with a carriage return; end the lines of headers with a line feed only")]
    LineEnding,
    /// The header of a file is not in its form.
    #[error("the header of the file is malformed: {0}")]
    Header(&'static str),
    /// The header of a file can be read in two ways.
    #[error("the header of the file can be read in two ways: {0}")]
    HeaderAmbiguous(&'static str),
    /// The header names two paths without being a rename.
    #[error("the header names two different paths, before and after")]
    PathsDiffer,
    /// Some headers have the prefixes `a/` and `b/` and others have none, or it cannot be told.
    #[error(
        "it cannot be told whether the paths carry the prefixes a/ and b/; start each file with a `diff --git` line"
    )]
    PrefixAmbiguous,
    /// A path is not within the project.
    #[error("\"{0}\": {1}")]
    Path(GivenPath, PathError),
    /// A path has a name that a patch may not use.
    #[error("\"{0}\": {1}")]
    Name(GivenPath, NameFault),
    /// A path stands in two headers.
    #[error("the patch has the path {0} twice; join its hunks under one header")]
    DuplicatePath(RepoPath),
    /// The same file is changed, removed or renamed twice.
    #[error("the patch changes, removes or renames {0} twice; join what becomes of it under one header")]
    DuplicateSource(RepoPath),
    /// A symbolic link.
    #[error(transparent)]
    Link(LinkFault),
    /// A submodule.
    #[error("a patch may not make, change or remove a submodule (mode 160000)")]
    Submodule,
    /// A mode other than 100644 and 100755.
    #[error("{0}; the only modes of a patch are 100644 and 100755")]
    Mode(ModeFault),
    /// Binary content or its stub.
    #[error("binary files cannot be patched")]
    Binary,
    /// Text in a form that is not understood here.
    #[error("{} not understood here; propose a plain unified diff", .0.phrase())]
    Unsupported(Form),
    /// A fence of Markdown that does not hold its lines whole.
    #[error("the Markdown fence {0}")]
    Fence(&'static str),
    /// A block of `*** Begin Patch` that is not in its form.
    #[error("the `*** Begin Patch` block is malformed: {0}")]
    BeginPatch(&'static str),
    /// A search and replace block that is not in its form.
    #[error("the search and replace block is malformed: {0}")]
    SearchReplace(&'static str),
    /// A line of a search and replace block could be content or a marker.
    #[error("a line of the block's content looks like a marker of the block; propose a unified diff")]
    MarkerAmbiguous,
    /// A hunk's header is neither `@@ -LINE,COUNT +LINE,COUNT @@` nor leaves its place out.
    #[error("the header of the hunk is not `@@ -LINE,COUNT +LINE,COUNT @@`; `@@` alone leaves its place out")]
    HunkHeader,
    /// A file has a header and no hunks.
    #[error("the file has no hunks")]
    NoHunks,
    /// A hunk without lines.
    #[error("the hunk has no lines")]
    HunkEmpty,
    /// The body could end at two places: the counts do not fit it, or what stands below it looks like a line of it.
    #[error(
        "it cannot be told whether the hunk has this line: its line counts are wrong, or text below it looks like one of its \
         lines; count them rightly, and leave that text out"
    )]
    HunkAmbiguous,
    /// A line of a hunk starts with none of space, `+`, `-` and `\`.
    #[error("the line starts with none of space, `+`, `-` and `\\`; start a line of context with a space")]
    BodyLine,
    /// The patch ends within a hunk and within a line.
    #[error("the patch ends in the middle of a hunk; propose it whole")]
    Truncated,
    /// A marker of a missing line feed stands where no file can end.
    #[error("`\\ No newline at end of file` stands after a line that is not the last of the file")]
    NewlineMarker,
    /// A hunk or a file that changes nothing.
    #[error("it changes nothing")]
    NoEffect,
    /// A file that is made has context or removed lines, or several hunks.
    #[error("a file that is made has one hunk of added lines")]
    CreateForm,
    /// A file that is removed has context or added lines, or several hunks.
    #[error("a file that is removed has one hunk of removed lines, all that it has")]
    DeleteForm,
}

/// What a patch says that it does to a symbolic link (mode 120000).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// It makes one.
    #[error("a patch may not make a symbolic link (mode 120000)")]
    Create,
    /// It removes one.
    #[error("a patch may not remove a symbolic link (mode 120000)")]
    Delete,
    /// It turns a file into one, or one into a file.
    #[error("a patch may not turn a file into a symbolic link (mode 120000), or one into a file")]
    Mode,
    /// It gives one another target.
    #[error("a patch may not give a symbolic link (mode 120000) another target")]
    Edit,
}

/// Modes that a patch may not ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModeFault {
    /// The file would run as the user that owns it.
    #[error("the mode has the set-user-ID bit")]
    SetUserId,
    /// The file would run as the group that owns it.
    #[error("the mode has the set-group-ID bit")]
    SetGroupId,
    /// The sticky bit.
    #[error("the mode has the sticky bit")]
    Sticky,
    /// A file with other permissions.
    #[error("the mode has other permissions than git keeps")]
    Permissions,
    /// A directory, a device or anything else that is no file.
    #[error("the mode is not that of a file")]
    Kind,
    /// Not six octal digits.
    #[error("the mode is not six octal digits")]
    Malformed,
}

/// Names that are harmless in one place and something else in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// A control, invisible or direction-changing character.
    #[error("the path holds a character that does not show")]
    Unprintable,
    /// A backslash, which separates components elsewhere.
    #[error("the path holds a backslash")]
    Backslash,
    /// A share of another machine, as Windows names it.
    #[error("the path names a share of another machine")]
    Share,
    /// A drive letter.
    #[error("the path starts with a drive letter")]
    Drive,
    /// A device of Windows, such as `aux` or `nul.txt`.
    #[error("the path has a component that names a device on Windows")]
    Reserved,
    /// A component that ends with a dot or a space, which Windows drops.
    #[error("the path has a component that ends with a dot or a space")]
    Trailing,
}

/// Forms of change that are recognised and refused as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text around or between the files that some reader takes for a part of a patch.
    Prose,
    /// A file as a whole, in a fence below its name.
    Listing,
    /// A diff of a merge (`diff --cc`, `@@@`).
    Combined,
    /// A copy.
    Copy,
}

impl Form {
    const fn phrase(self) -> &'static str {
        match self {
            Self::Prose => "text around the files that could be taken for a part of a patch is",
            Self::Listing => "a file as a whole, in a fence below its name, is",
            Self::Combined => "the diff of a merge is",
            Self::Copy => "a copy is",
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::Prose => "PATCH_UNSUPPORTED_PROSE",
            Self::Listing => "PATCH_UNSUPPORTED_LISTING",
            Self::Combined => "PATCH_UNSUPPORTED_COMBINED",
            Self::Copy => "PATCH_UNSUPPORTED_COPY",
        }
    }
}

impl LinkFault {
    const fn code(self) -> &'static str {
        match self {
            Self::Create => "PATCH_LINK_CREATE",
            Self::Delete => "PATCH_LINK_DELETE",
            Self::Mode => "PATCH_LINK_MODE",
            Self::Edit => "PATCH_LINK_EDIT",
        }
    }
}

impl ModeFault {
    const fn code(self) -> &'static str {
        match self {
            Self::SetUserId => "PATCH_MODE_SETUID",
            Self::SetGroupId => "PATCH_MODE_SETGID",
            Self::Sticky => "PATCH_MODE_STICKY",
            Self::Permissions => "PATCH_MODE_PERMISSIONS",
            Self::Kind => "PATCH_MODE_KIND",
            Self::Malformed => "PATCH_MODE_MALFORMED",
        }
    }
}

impl NameFault {
    const fn code(self) -> &'static str {
        match self {
            Self::Unprintable => "PATCH_PATH_UNPRINTABLE",
            Self::Backslash => "PATCH_PATH_BACKSLASH",
            Self::Share => "PATCH_PATH_SHARE",
            Self::Drive => "PATCH_PATH_DRIVE",
            Self::Reserved => "PATCH_PATH_RESERVED",
            Self::Trailing => "PATCH_PATH_TRAILING",
        }
    }
}

impl PatchFault {
    /// The path that is wrong, as text, where it is that.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Path(path, _) | Self::Name(path, _) => Some(path.to_string()),
            Self::DuplicatePath(path) | Self::DuplicateSource(path) => Some(path.to_string()),
            _ => None,
        }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "PATCH_TOO_LARGE",
            Self::TooManyFiles => "PATCH_TOO_MANY_FILES",
            Self::TooManyHunks => "PATCH_TOO_MANY_HUNKS",
            Self::Empty => "PATCH_EMPTY",
            Self::ByteOrderMark => "PATCH_BYTE_ORDER_MARK",
            Self::Nul => "PATCH_NUL",
            Self::LineEnding => "PATCH_LINE_ENDING",
            Self::Header(_) => "PATCH_HEADER",
            Self::HeaderAmbiguous(_) => "PATCH_HEADER_AMBIGUOUS",
            Self::PathsDiffer => "PATCH_PATHS_DIFFER",
            Self::PrefixAmbiguous => "PATCH_PREFIX_AMBIGUOUS",
            Self::Path(_, why) => why.code(),
            Self::Name(_, why) => why.code(),
            Self::DuplicatePath(_) => "PATCH_DUPLICATE_PATH",
            Self::DuplicateSource(_) => "PATCH_DUPLICATE_SOURCE",
            Self::Link(fault) => fault.code(),
            Self::Submodule => "PATCH_SUBMODULE",
            Self::Mode(fault) => fault.code(),
            Self::Binary => "PATCH_BINARY",
            Self::Unsupported(form) => form.code(),
            Self::Fence(_) => "PATCH_FENCE",
            Self::BeginPatch(_) => "PATCH_BEGIN_PATCH",
            Self::SearchReplace(_) => "PATCH_SEARCH_REPLACE",
            Self::MarkerAmbiguous => "PATCH_MARKER_AMBIGUOUS",
            Self::HunkHeader => "PATCH_HUNK_HEADER",
            Self::NoHunks => "PATCH_NO_HUNKS",
            Self::HunkEmpty => "PATCH_HUNK_EMPTY",
            Self::HunkAmbiguous => "PATCH_HUNK_AMBIGUOUS",
            Self::BodyLine => "PATCH_BODY_LINE",
            Self::Truncated => "PATCH_TRUNCATED",
            Self::NewlineMarker => "PATCH_NEWLINE_MARKER",
            Self::NoEffect => "PATCH_NO_EFFECT",
            Self::CreateForm => "PATCH_CREATE_FORM",
            Self::DeleteForm => "PATCH_DELETE_FORM",
        }
    }
}
