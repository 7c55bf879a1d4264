use ambit_ids::RepoPath;

use super::fault::{Form, LinkFault, ModeFault, PatchError, PatchFault};
use super::lines::{is_header_pair, starts};
use super::name::{
    Prefix, Side, header_text, pair, prefix_of_rename, read_git_names, read_name, read_side, single,
};
use super::policy::admit;
use super::set::{FileMode, Operation, OtherReading};

/// The header of one file, judged by itself.
pub(super) struct Header {
    pub(super) path: RepoPath,
    pub(super) prefix: Prefix,
    /// What its names could mean instead.
    pub(super) other: Option<OtherReading>,
    pub(super) operation: Operation,
    /// Whether both sides are named, which announces hunks.
    pub(super) names_sides: bool,
    /// The index of the line after it.
    pub(super) end: usize,
}

const CONTRADICTION: &str = "its lines contradict each other";

/// What the lines of a header say.
#[derive(Default)]
struct Stated {
    git_names: Option<Vec<u8>>,
    old_mode: Option<FileMode>,
    new_mode: Option<FileMode>,
    created: Option<FileMode>,
    deleted: Option<FileMode>,
    index: Option<Option<FileMode>>,
    renamed_from: Option<Vec<u8>>,
    renamed_to: Option<Vec<u8>>,
    sides: Option<(Side, Side)>,
}

/// Reads the header that starts at `at`, and judges its path.
pub(super) fn read(lines: &[&[u8]], at: usize) -> Result<Header, PatchError> {
    let mut stated = Stated::default();
    let mut end = at;
    if starts(lines, at, b"diff --git ") {
        let text = header_text(lines[at]).map_err(|fault| PatchError::at(at, fault))?;
        stated.git_names = Some(text[b"diff --git ".len()..].to_vec());
        end += 1;
        while let Some(line) = lines.get(end) {
            let text = header_text(line).map_err(|fault| PatchError::at(end, fault))?;
            if !stated.take(text).map_err(|fault| PatchError::at(end, fault))? {
                break;
            }
            end += 1;
        }
    }
    if is_header_pair(lines, end) {
        let side = |at: usize| header_text(lines[at]).and_then(|text| read_side(&text[4..]));
        let old = side(end).map_err(|fault| PatchError::at(end, fault))?;
        let new = side(end + 1).map_err(|fault| PatchError::at(end + 1, fault))?;
        stated.sides = Some((old, new));
        end += 2;
    }
    stated.judge(end).map_err(|fault| PatchError::at(at, fault))
}

impl Stated {
    /// Takes one line below the `diff --git` line; answers whether it belongs to the header.
    fn take(&mut self, text: &[u8]) -> Result<bool, PatchFault> {
        let starts_with = |start: &str| text.strip_prefix(start.as_bytes());
        if let Some(mode) = starts_with("old mode ") {
            once(&mut self.old_mode, read_mode(mode, LinkFault::Mode)?)?;
        } else if let Some(mode) = starts_with("new mode ") {
            once(&mut self.new_mode, read_mode(mode, LinkFault::Mode)?)?;
        } else if let Some(mode) = starts_with("new file mode ") {
            once(&mut self.created, read_mode(mode, LinkFault::Create)?)?;
        } else if let Some(mode) = starts_with("deleted file mode ") {
            once(&mut self.deleted, read_mode(mode, LinkFault::Delete)?)?;
        } else if let Some(rest) = starts_with("index ") {
            once(&mut self.index, read_index(rest)?)?;
        } else if let Some(name) = starts_with("rename from ") {
            once(&mut self.renamed_from, read_name(name)?)?;
        } else if let Some(name) = starts_with("rename to ") {
            once(&mut self.renamed_to, read_name(name)?)?;
        } else if starts_with("copy ").is_some() {
            return Err(PatchFault::Unsupported(Form::Copy));
        } else if starts_with("GIT binary patch").is_some() || starts_with("Binary files ").is_some() {
            return Err(PatchFault::Binary);
        } else {
            return Ok(starts_with("similarity index ").or(starts_with("dissimilarity index ")).is_some());
        }
        Ok(true)
    }

    fn judge(self, end: usize) -> Result<Header, PatchFault> {
        let names_sides = self.sides.is_some();
        if self.renamed_from.is_some() || self.renamed_to.is_some() {
            let (path, prefix, operation) = self.rename()?;
            return Ok(Header { path, prefix, other: None, operation, names_sides, end });
        }
        let (stated, prefix) = self.path()?;
        let path = admit(&stated)?;
        let other = match (&prefix, &self.sides) {
            (Prefix::Either, Some((Side::Name(name), _) | (Side::Null, Side::Name(name)))) => {
                Some(OtherReading::Whole(admit(name)?))
            }
            // Both names start alike, with what whoever strips a prefix takes for one.
            (Prefix::Bare, _) => match stated.as_slice() {
                [b'a' | b'b', b'/', rest @ ..] => admit(rest).ok().map(OtherReading::Stripped),
                _ => None,
            },
            _ => None,
        };
        Ok(Header { path, prefix, other, operation: self.operation()?, names_sides, end })
    }

    /// The path that a file is renamed to, and from which.
    fn rename(&self) -> Result<(RepoPath, Prefix, Operation), PatchFault> {
        let (Some(from), Some(to), Some(names)) = (&self.renamed_from, &self.renamed_to, &self.git_names)
        else {
            return Err(PatchFault::Header("a rename has the lines `rename from NAME` and `rename to NAME`"));
        };
        let sides = match &self.sides {
            None => None,
            Some((Side::Name(old), Side::Name(new))) => Some((old.as_slice(), new.as_slice())),
            Some(_) => return Err(PatchFault::Header("a rename does not make or remove a file")),
        };
        let (source, path) = (admit(from)?, admit(to)?);
        let prefix = prefix_of_rename(names, sides, from, to)
            .ok_or(PatchFault::Header("its lines name different paths"))?;
        if source == path {
            return Err(PatchFault::Header("it renames a file to the name that it has"));
        }
        let index_mode = self.index.flatten();
        let (stated, becomes) = match (self.old_mode, self.new_mode) {
            (None, None) => (index_mode, None),
            (Some(old), Some(new)) if old != new && index_mode.is_none() => (Some(old), Some(new)),
            _ => return Err(PatchFault::Header(CONTRADICTION)),
        };
        if self.created.is_some() || self.deleted.is_some() {
            return Err(PatchFault::Header(CONTRADICTION));
        }
        Ok((path, prefix, Operation::Rename { from: source, stated, becomes }))
    }

    /// The path that every name in the header agrees on.
    fn path(&self) -> Result<(Vec<u8>, Prefix), PatchFault> {
        let git_names = self.git_names.as_deref().map(read_git_names).transpose()?;
        let from_git = git_names.as_ref().map(|(old, new)| pair(old, new)).transpose()?;
        let (old, new) = match &self.sides {
            None => {
                let (path, prefix) = from_git.ok_or(PatchFault::NoHunks)?;
                let is_quoted = self.git_names.as_ref().is_some_and(|names| names.starts_with(b"\""));
                if prefix == Prefix::Bare && path.contains(&b' ') && !is_quoted {
                    return Err(PatchFault::HeaderAmbiguous(
                        "unquoted names with spaces and without prefixes",
                    ));
                }
                return Ok((path, prefix));
            }
            Some((Side::Null, Side::Null)) => return Err(PatchFault::Header("both sides are /dev/null")),
            Some((Side::Name(old), Side::Null)) => (Some(old), None),
            Some((Side::Null, Side::Name(new))) => (None, Some(new)),
            Some((Side::Name(old), Side::Name(new))) => (Some(old), Some(new)),
        };
        if let (Some((git_old, git_new)), Some(path)) = (&git_names, from_git) {
            let agree = old.is_none_or(|old| old == git_old) && new.is_none_or(|new| new == git_new);
            return if agree { Ok(path) } else { Err(PatchFault::Header("its lines name different paths")) };
        }
        match (old, new) {
            (Some(old), Some(new)) => pair(old, new),
            (Some(old), None) => single(old, b"a/"),
            (None, new) => single(new.map_or(&[], Vec::as_slice), b"b/"),
        }
    }

    fn operation(&self) -> Result<Operation, PatchFault> {
        let contradiction = PatchFault::Header(CONTRADICTION);
        let index_mode = self.index.flatten();
        let fits = |mode: Option<FileMode>| index_mode.is_none() || mode.is_none() || index_mode == mode;
        let (old_null, new_null) = match &self.sides {
            None => (self.created.is_some(), self.deleted.is_some()),
            Some((old, new)) => (*old == Side::Null, *new == Side::Null),
        };
        let misplaced_mode = self.created.is_some() && !old_null || self.deleted.is_some() && !new_null;
        if old_null && new_null || misplaced_mode {
            return Err(contradiction);
        }
        match (self.old_mode, self.new_mode) {
            (None, None) if old_null && fits(self.created) => {
                Ok(Operation::Create { mode: self.created.or(index_mode).unwrap_or(FileMode::Regular) })
            }
            (None, None) if new_null && fits(self.deleted) => {
                Ok(Operation::Delete { stated: self.deleted.or(index_mode), whole: false })
            }
            (None, None) if old_null || new_null => Err(contradiction),
            (None, None) if self.sides.is_none() => Err(PatchFault::NoHunks),
            (None, None) => Ok(Operation::Modify { stated: index_mode, becomes: None }),
            (Some(old), Some(new)) if old == new => Err(PatchFault::NoEffect),
            (Some(old), Some(new)) if index_mode.is_none() && !old_null && !new_null => {
                Ok(Operation::Modify { stated: Some(old), becomes: Some(new) })
            }
            _ => Err(contradiction),
        }
    }
}

fn once<T>(slot: &mut Option<T>, value: T) -> Result<(), PatchFault> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(PatchFault::Header("a line stands twice")),
    }
}

/// Reads a mode as git writes it, in octal. `link` is what the line would do to a symbolic link.
fn read_mode(digits: &[u8], link: LinkFault) -> Result<FileMode, PatchFault> {
    match digits {
        b"100644" => return Ok(FileMode::Regular),
        b"100755" => return Ok(FileMode::Executable),
        b"120000" => return Err(PatchFault::Link(link)),
        b"160000" => return Err(PatchFault::Submodule),
        _ => {}
    }
    let is_octal = digits.len() == 6 && digits.iter().all(|b| matches!(b, b'0'..=b'7'));
    Err(PatchFault::Mode(match digits.last_chunk() {
        Some([special, _, _, _]) if is_octal && digits.starts_with(b"10") => match special - b'0' {
            4.. => ModeFault::SetUserId,
            2.. => ModeFault::SetGroupId,
            1 => ModeFault::Sticky,
            _ => ModeFault::Permissions,
        },
        _ if is_octal => ModeFault::Kind,
        _ => ModeFault::Malformed,
    }))
}

/// Reads `OLD..NEW` or `OLD..NEW MODE`. The object names are git's and prove nothing here.
fn read_index(text: &[u8]) -> Result<Option<FileMode>, PatchFault> {
    let malformed = PatchFault::Header("the `index` line is malformed");
    let (names, mode) = match text.iter().position(|b| *b == b' ') {
        None => (text, None),
        Some(space) => (&text[..space], Some(&text[space + 1..])),
    };
    let dots = names.windows(2).position(|pair| pair == b"..").ok_or(malformed.clone())?;
    let hexadecimal = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_hexdigit);
    if !hexadecimal(&names[..dots]) || !hexadecimal(&names[dots + 2..]) {
        return Err(malformed);
    }
    mode.map(|mode| read_mode(mode, LinkFault::Edit)).transpose()
}
