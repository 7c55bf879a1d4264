//! What an ELF file asks of the loader.

use std::fs::File;
use std::io;
use std::path::Path;

use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef, StringTable};
use object::{Endianness, FileKind};

use crate::regular::open_regular;

/// The kind of machine code in a file. A loader passes over libraries of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    wide: bool,
    machine: u16,
}

/// What an ELF file asks of the loader. The byte strings are as they stand in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Linkage {
    pub(crate) architecture: Architecture,
    /// `PT_INTERP`: the loader of a dynamically linked program.
    pub(crate) interpreter: Option<Vec<u8>>,
    /// `DT_NEEDED`, in order.
    pub(crate) needed: Vec<Vec<u8>>,
    /// `DT_SONAME`.
    pub(crate) soname: Option<Vec<u8>>,
    /// `DT_RPATH`; void where there is a run path.
    pub(crate) rpath: Option<Vec<u8>>,
    /// `DT_RUNPATH`.
    pub(crate) runpath: Option<Vec<u8>>,
}

/// Why the linkage of a file cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ElfError {
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    #[error("it is a damaged ELF file ({0})")]
    Damaged(#[from] object::read::Error),
}

/// Reads the linkage of the file to which `path` leads; `None` where it is no ELF file.
pub(crate) fn read(path: &Path) -> Result<Option<Linkage>, ElfError> {
    let file: ReadCache<File> = ReadCache::new(open_regular(&path.canonicalize()?)?);
    match FileKind::parse(&file) {
        Ok(FileKind::Elf32) => linkage::<elf::FileHeader32<Endianness>, _>(&file).map(Some),
        Ok(FileKind::Elf64) => linkage::<elf::FileHeader64<Endianness>, _>(&file).map(Some),
        Ok(_) | Err(_) => Ok(None),
    }
}

fn linkage<'data, H, R>(data: R) -> Result<Linkage, ElfError>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let mut linkage = Linkage {
        architecture: Architecture { wide: header.is_class_64(), machine: header.e_machine(endian).0 },
        interpreter: None,
        needed: Vec::new(),
        soname: None,
        rpath: None,
        runpath: None,
    };
    for segment in segments {
        if let Some(interpreter) = segment.interpreter(endian, data)? {
            linkage.interpreter = Some(interpreter.to_vec());
        }
        if let Some(entries) = segment.dynamic(endian, data)? {
            let strings = strings(endian, data, segments, entries);
            read_dynamic(endian, entries, &strings, &mut linkage)?;
        }
    }
    Ok(linkage)
}

/// The string table of the dynamic section, found as the loader does: by its address, not by section headers.
fn strings<'data, P, D, R>(
    endian: Endianness,
    data: R,
    segments: &[P],
    entries: &[D],
) -> StringTable<'data, R>
where
    P: ProgramHeader<Endian = Endianness>,
    D: Dyn<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let value = |tag| entries.iter().find(|entry| entry.d_tag(endian) == tag).map(|e| e.d_val(endian).into());
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return StringTable::default();
    };
    let range =
        segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD).find_map(|segment| {
            let start: u64 = segment.p_vaddr(endian).into();
            let (offset, length) = segment.file_range(endian);
            let inside: u64 = address;
            let skip = inside.checked_sub(start).filter(|skip| *skip < length)?;
            let begin = offset.checked_add(skip)?;
            Some((begin, begin.checked_add(size)?))
        });
    range.map_or_else(StringTable::default, |(begin, end)| StringTable::new(data, begin, end))
}

fn read_dynamic<'data, D, R>(
    endian: Endianness,
    entries: &[D],
    strings: &StringTable<'data, R>,
    linkage: &mut Linkage,
) -> Result<(), ElfError>
where
    D: Dyn<Endian = Endianness>,
    R: ReadRef<'data>,
{
    for entry in entries.iter().take_while(|entry| entry.d_tag(endian) != elf::DT_NULL) {
        let text = || entry.string(endian, *strings).map(<[u8]>::to_vec);
        match entry.d_tag(endian) {
            elf::DT_NEEDED => linkage.needed.push(text()?),
            elf::DT_SONAME => linkage.soname = Some(text()?),
            elf::DT_RPATH => linkage.rpath = Some(text()?),
            elf::DT_RUNPATH => linkage.runpath = Some(text()?),
            _ => {}
        }
    }
    if linkage.runpath.is_some() {
        linkage.rpath = None;
    }
    Ok(())
}
