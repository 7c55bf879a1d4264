use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use ambit_ports::signer::{KeyRole, SignerError};
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, EncodePrivateKey as _, EncodePublicKey as _, KeypairBytes,
};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, fstat, fsync, mkdir, open, openat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;
use zeroize::Zeroizing;

/// Several times what a key of any form takes.
const FILE_BYTES: usize = 4_096;

/// A directory that is this user's alone.
pub(crate) struct KeyDirectory {
    path: PathBuf,
    directory: OwnedFd,
}

impl KeyDirectory {
    /// `None` where there is no such directory.
    pub(crate) fn open(path: &Path, role: KeyRole) -> Result<Option<Self>, SignerError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match open(path, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(failed(role, errno)),
        };
        let found = fstat(&directory).map_err(|errno| failed(role, errno))?;
        require_private(role, path, &found, "700")?;
        Ok(Some(Self { path: path.to_owned(), directory }))
    }

    pub(crate) fn open_or_make(path: &Path, role: KeyRole) -> Result<Self, SignerError> {
        match mkdir(path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(role, errno)),
        }
        Self::open(path, role)?.ok_or_else(|| failed(role, Errno::NOENT))
    }
}

fn failed(role: KeyRole, errno: Errno) -> SignerError {
    SignerError::Io { role, source: errno.into() }
}

/// A key that others can read may be theirs already, so that narrowing its permissions is the owner's decision.
fn require_private(role: KeyRole, path: &Path, found: &Stat, mode: &str) -> Result<(), SignerError> {
    let path = path.display();
    if found.st_uid != rustix::process::geteuid().as_raw() {
        let why = format!("{path} belongs to another user: make it this user's");
        return Err(SignerError::Unusable { role, why });
    }
    if found.st_mode & 0o077 != 0 {
        let why =
            format!("others may use {path}: `chmod {mode}` it, or make a new key if others could read it");
        return Err(SignerError::Unusable { role, why });
    }
    Ok(())
}

/// The private key of a role; `None` where there is none.
pub(crate) fn read(directory: &KeyDirectory, role: KeyRole) -> Result<Option<SigningKey>, SignerError> {
    let (name, path) = private_name(directory, role);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(&directory.directory, &name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP | Errno::NXIO) => return Err(not_a_key(role, &path)),
        Err(errno) => return Err(failed(role, errno)),
    };
    let found = fstat(&file).map_err(|errno| failed(role, errno))?;
    if !FileType::from_raw_mode(found.st_mode).is_file() {
        return Err(not_a_key(role, &path));
    }
    require_private(role, &path, &found, "600")?;
    // The room is there from the start: a buffer that grows would leave copies of the key behind.
    let mut text = Zeroizing::new(Vec::with_capacity(FILE_BYTES + 1));
    File::from(file)
        .take(FILE_BYTES as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|source| SignerError::Io { role, source })?;
    let key = std::str::from_utf8(&text)
        .ok()
        .filter(|text| text.len() <= FILE_BYTES)
        .and_then(|text| SigningKey::from_pkcs8_pem(text).ok());
    key.map(Some).ok_or_else(|| not_a_key(role, &path))
}

fn private_name(directory: &KeyDirectory, role: KeyRole) -> (String, PathBuf) {
    let name = format!("{}.pem", role.as_str());
    let path = directory.path.join(&name);
    (name, path)
}

fn not_a_key(role: KeyRole, path: &Path) -> SignerError {
    let path = path.display();
    let why =
        format!("{path} is not an Ed25519 private key in PKCS#8 PEM: put the key back, or move it away");
    SignerError::Unusable { role, why }
}

/// The private key of a role, made where there is none, with its public key beside it.
pub(crate) fn read_or_make(directory: &KeyDirectory, role: KeyRole) -> Result<SigningKey, SignerError> {
    let key = match read(directory, role)? {
        Some(key) => key,
        None => {
            make(directory, role)?;
            read(directory, role)?.ok_or(SignerError::NoKey(role))?
        }
    };
    let public = key
        .verifying_key()
        .to_public_key_pem(LineEnding::LF)
        .map_err(|error| SignerError::Io { role, source: io::Error::other(error) })?;
    let name = format!("{}.pub.pem", role.as_str());
    let path = directory.path.join(&name);
    let io = |source| SignerError::Io { role, source };
    if !path.exists() {
        let readable = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        place(directory, &name, public.as_bytes(), readable).map_err(io)?;
    }
    let found = std::fs::read(&path).map_err(io)?;
    if found != public.as_bytes() {
        let why = format!("{} is not its public key: remove that file", path.display());
        return Err(SignerError::Unusable { role, why });
    }
    Ok(key)
}

/// Makes the private key of a role, unless somebody else is faster.
fn make(directory: &KeyDirectory, role: KeyRole) -> Result<(), SignerError> {
    let io = |source| SignerError::Io { role, source };
    let mut seed = Zeroizing::new([0_u8; 32]);
    getrandom::fill(&mut *seed).map_err(|error| io(error.into()))?;
    // Version 1 of the form, without the public key: openssl 3.0 reads no other.
    let text = KeypairBytes { secret_key: *seed, public_key: None }
        .to_pkcs8_pem(LineEnding::LF)
        .map_err(|error| io(io::Error::other(error)))?;
    let (name, _) = private_name(directory, role);
    place(directory, &name, text.as_bytes(), Mode::RUSR | Mode::WUSR).map_err(io)
}

/// Writes a file that has its name only once it is whole and on the disk. What has the name already stays.
fn place(directory: &KeyDirectory, name: &str, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let directory = &directory.directory;
    let mut suffix = [0_u8; 8];
    getrandom::fill(&mut suffix)?;
    let unfinished = format!(".{name}.{:016x}", u64::from_be_bytes(suffix));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(directory, &unfinished, flags, mode)?);
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
        match renameat_with(directory, &unfinished, directory, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(fsync(directory)?),
            Err(errno) => Err(errno.into()),
        }
    });
    match written {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = unlinkat(directory, &unfinished, AtFlags::empty());
            if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
        }
    }
}
