//! Lock files: which version of a dependency is meant, where it comes from, and what it must be.

use std::collections::{BTreeMap, BTreeSet};

use ambit_policy::FactKind;

use super::compare::Document;
use super::node::{Node, Value};
use super::told::{Spot, Told};

/// One package of a lock file.
#[derive(Clone, Debug)]
struct Locked {
    version: String,
    origin: String,
    digests: BTreeSet<String>,
    line: u32,
}

type Lock = BTreeMap<String, Vec<Locked>>;

/// Compares a lock file, in the layout that its kind has.
pub(super) fn compare(layout: &str, document: &Document<'_>, with_manifest: bool, told: &mut Told) {
    let (was, is) = (read(layout, &document.before), read(layout, &document.after));
    let path = document.path;
    if was.is_empty() {
        return;
    }
    if is.is_empty() {
        told.tell(FactKind::DependencyUnpinned, Spot::before(path, 0), "a lock file", "");
        return;
    }
    let places: BTreeSet<String> = was.values().flatten().map(|locked| place(&locked.origin)).collect();
    let had_digests = was.values().flatten().any(|locked| !locked.digests.is_empty());
    for (name, now) in &is {
        let before = was.get(name);
        for locked in now {
            let same = before.and_then(|before| before.iter().find(|old| old.version == locked.version));
            let spot = Spot::after(path, locked.line);
            if let Some(old) = same {
                versions_agree(name, old, locked, spot, told);
                continue;
            }
            if !places.contains(&place(&locked.origin)) && !locked.origin.is_empty() {
                told.tell(FactKind::DependencyMoved, spot, "", &format!("{name} from {}", locked.origin));
            }
            // The project's own packages come from nowhere and are held by nothing; others may have their names.
            let is_own = is_own(locked);
            if is_own && before.is_some_and(|before| before.iter().any(self::is_own)) {
                continue;
            }
            let Some(old) = before.and_then(|before| {
                before.iter().find(|old| !now.iter().any(|kept| kept.version == old.version))
            }) else {
                continue;
            };
            if had_digests && locked.digests.is_empty() && !old.digests.is_empty() {
                told.tell(FactKind::DependencyUnpinned, spot, name, "no digest");
            } else if !(with_manifest || is_own || is_raised(old, locked)) && layout != "gosum" {
                let (old, new) = (format!("{name} {}", old.version), format!("{name} {}", locked.version));
                told.tell(FactKind::DependencyUnpinned, spot, &old, &new);
            }
        }
    }
}

fn is_own(locked: &Locked) -> bool {
    locked.origin.is_empty() && locked.digests.is_empty()
}

/// Whether a later version came from the same place, held by a digest of its own.
fn is_raised(old: &Locked, new: &Locked) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        let plain = version.trim_start_matches(['=', 'v']).split(['-', '+']).next().unwrap_or_default();
        plain.split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let is_held = !new.digests.is_empty() && new.digests.is_disjoint(&old.digests);
    is_held && place(&old.origin) == place(&new.origin) && numbers(&new.version) > numbers(&old.version)
}

/// One version of a package, on both sides.
fn versions_agree(name: &str, old: &Locked, new: &Locked, spot: Spot<'_>, told: &mut Told) {
    // The same host, and nobody in between.
    let secured =
        |place: String| place.strip_prefix("http://").map_or(place.clone(), |host| format!("https://{host}"));
    let (was, is) = (secured(place(&old.origin)), place(&new.origin));
    if was != is && !old.origin.is_empty() && !new.origin.is_empty() {
        told.tell(
            FactKind::DependencyMoved,
            spot,
            &format!("{name} from {}", old.origin),
            &format!("{name} from {}", new.origin),
        );
        return;
    }
    if old.digests.is_empty() || old.digests == new.digests {
        return;
    }
    if new.digests.is_empty() {
        told.tell(FactKind::DependencyUnpinned, spot, &format!("{name} {}", listed(&old.digests)), name);
    } else if old.digests.is_disjoint(&new.digests) && strength(&new.digests) <= strength(&old.digests) {
        told.tell(
            FactKind::DependencyMoved,
            spot,
            &format!("{name} {}", listed(&old.digests)),
            &listed(&new.digests),
        );
    }
}

fn listed(digests: &BTreeSet<String>) -> String {
    digests.iter().next().cloned().unwrap_or_default()
}

/// How strong the best algorithm of some digests is.
fn strength(digests: &BTreeSet<String>) -> u32 {
    let of = |digest: &String| {
        ["sha1", "sha256", "sha384", "sha512"]
            .iter()
            .rposition(|name| digest.starts_with(name))
            .map_or(0, |at| at + 1)
    };
    digests.iter().map(of).max().and_then(|best| u32::try_from(best).ok()).unwrap_or_default()
}

/// Whose a source is: its scheme and host, or the repository for one of a version control system.
fn place(origin: &str) -> String {
    let bare = origin.split(['?', '#']).next().unwrap_or(origin);
    if bare.starts_with("git") || bare.contains("git+") || !bare.contains("://") {
        return bare.trim_end_matches(".git").to_owned();
    }
    let (scheme, rest) = bare.split_once("://").unwrap_or(("", bare));
    format!("{scheme}://{}", rest.split('/').next().unwrap_or_default())
}

fn read(layout: &str, node: &Node) -> Lock {
    let mut lock = Lock::new();
    match layout {
        "npm" => npm(node, &mut lock),
        "yarn" => yarn(node, &mut lock),
        "pnpm" => pnpm(node, &mut lock),
        "pipfile" => pipfile(node, &mut lock),
        "gosum" => gosum(node, &mut lock),
        _ => tables(node, &mut lock),
    }
    lock
}

fn text(node: &Node, key: &str) -> String {
    node.field(key).unwrap_or_default().to_owned()
}

fn digests(texts: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

fn npm(node: &Node, lock: &mut Lock) {
    let mut take = |name: &str, entry: &Node| {
        let integrity = text(entry, "integrity");
        lock.entry(name.to_owned()).or_default().push(Locked {
            version: text(entry, "version"),
            origin: text(entry, "resolved"),
            digests: digests(integrity.split_whitespace().map(str::to_owned)),
            line: entry.line,
        });
    };
    let packages = node.get("packages").map(Node::entries).unwrap_or_default();
    for (name, entry) in
        packages.iter().filter(|(name, entry)| name.contains("node_modules/") && entry.get("link").is_none())
    {
        take(name, entry);
    }
    if packages.is_empty() {
        let mut open: Vec<(String, &Node)> = vec![(String::new(), node)];
        while let Some((above, node)) = open.pop() {
            for (name, entry) in node.get("dependencies").map(Node::entries).unwrap_or_default() {
                let whole = format!("{above}/{name}");
                take(&whole, entry);
                open.push((whole, entry));
            }
        }
    }
}

fn yarn(node: &Node, lock: &mut Lock) {
    for (names, entry) in node.entries().iter().filter(|(name, _)| name != "__metadata") {
        let first = names.split(',').next().unwrap_or(names).trim();
        let name = first.rfind('@').filter(|at| *at > 0).map_or(first, |at| &first[..at]);
        let name = name.split("@npm:").next().unwrap_or(name);
        let resolved = text(entry, "resolved");
        let (origin, hash) = resolved.split_once('#').unwrap_or((&resolved, ""));
        let best = [text(entry, "integrity"), text(entry, "checksum"), hash.to_owned()]
            .into_iter()
            .find(|text| !text.is_empty());
        let resolution = text(entry, "resolution");
        let origin = if resolution.contains("://") { resolution.as_str() } else { origin };
        lock.entry(name.to_owned()).or_default().push(Locked {
            version: text(entry, "version"),
            origin: origin.to_owned(),
            digests: digests(best),
            line: entry.line,
        });
    }
}

fn pnpm(node: &Node, lock: &mut Lock) {
    for (name, entry) in node.get("packages").map(Node::entries).unwrap_or_default() {
        let bare = name.trim_start_matches('/').split('(').next().unwrap_or(name);
        let at = bare.rfind('@').filter(|at| *at > 0).or_else(|| bare.rfind('/'));
        let (package, version) = at.map_or((bare, ""), |at| (&bare[..at], &bare[at + 1..]));
        let Some(resolution) = entry.get("resolution") else { continue };
        let origin =
            ["tarball", "repo", "directory"].iter().find_map(|key| resolution.field(key)).unwrap_or_default();
        lock.entry(package.to_owned()).or_default().push(Locked {
            version: version.to_owned(),
            origin: origin.to_owned(),
            digests: digests([text(resolution, "integrity"), text(resolution, "commit")]),
            line: entry.line,
        });
    }
}

fn pipfile(node: &Node, lock: &mut Lock) {
    for section in ["default", "develop"] {
        for (name, entry) in node.get(section).map(Node::entries).unwrap_or_default() {
            let hashes = entry.get("hashes").map(Node::items).unwrap_or_default();
            let origin =
                ["git", "file", "path", "index"].iter().find_map(|key| entry.field(key)).unwrap_or_default();
            lock.entry(format!("{section} {name}")).or_default().push(Locked {
                version: text(entry, "version"),
                origin: origin.to_owned(),
                digests: digests(hashes.iter().filter_map(Node::text).map(str::to_owned)),
                line: entry.line,
            });
        }
    }
    let sources = node.at(&["_meta", "sources"]).map(Node::items).unwrap_or_default();
    for source in sources {
        lock.entry(format!("source {}", text(source, "name"))).or_default().push(Locked {
            version: String::new(),
            origin: text(source, "url"),
            digests: BTreeSet::new(),
            line: source.line,
        });
    }
}

fn gosum(node: &Node, lock: &mut Lock) {
    for item in node.items() {
        let mut words = item.text().unwrap_or_default().split_whitespace();
        let (Some(module), Some(version), Some(digest)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        lock.entry(module.to_owned()).or_default().push(Locked {
            version: version.to_owned(),
            origin: String::new(),
            digests: digests([digest.to_owned()]),
            line: item.line,
        });
    }
}

/// The packages of Cargo, Poetry, PDM and uv, each a table of a list.
fn tables(node: &Node, lock: &mut Lock) {
    let files_of =
        |name: &str| node.at(&["metadata", "files", name]).or(node.at(&["metadata", "hashes", name]));
    for package in node.get("package").map(Node::items).unwrap_or_default() {
        let name = text(package, "name");
        let origin = match package.get("source") {
            Some(Node { value: Value::Scalar(text), .. }) => text.clone(),
            Some(source) => {
                let keys = ["url", "registry", "git", "path", "editable", "virtual", "directory"];
                keys.iter().find_map(|key| source.field(key)).unwrap_or_default().to_owned()
            }
            None => text(package, "git"),
        };
        let mut hashes = vec![text(package, "checksum")];
        let files = [package.get("files"), package.get("wheels"), package.get("sdist"), files_of(&name)];
        for files in files.into_iter().flatten() {
            files.walk("", &mut |key, node| {
                let is_hash = key == "hash" || node.text().is_some_and(|text| text.starts_with("sha"));
                hashes.extend(node.text().filter(|_| is_hash).map(str::to_owned));
            });
        }
        lock.entry(name).or_default().push(Locked {
            version: text(package, "version"),
            origin,
            digests: digests(hashes),
            line: package.get("version").map_or(package.line, |node| node.line),
        });
    }
}
