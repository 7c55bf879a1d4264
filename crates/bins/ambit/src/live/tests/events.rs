use std::collections::BTreeMap;

use super::worlds::{asking, giving_up, play, worker};
use crate::live::events::{Kind, told};
use ambit_ids::{DurationMs, UnixMs};

const PAGE: &str = include_str!("../../../../../../docs/events.md");

#[test]
fn every_kind_is_listed_once() {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: Vec<&str> = rows.map(|(kind, _)| kind).filter(|kind| kind.contains('.')).collect();
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(listed, kinds, "the page lists exactly what there is, in its order");
    insta::assert_snapshot!("kinds", kinds.join("\n"));
}

#[test]
fn every_line_stands_for_itself_and_keeps_its_shape() {
    let mut shapes: BTreeMap<String, String> = BTreeMap::new();
    let stories = [play(worker, None), play(asking, Some(DurationMs::new(90_000))), play(giving_up, None)];
    for story in stories {
        let run = story.begins.state.dossier().unwrap().pins.run.clone();
        for (at, state, events) in &story.told {
            let first = state.dossier().unwrap().events - events.len() as u64;
            for (seq, event) in (first..).zip(events) {
                for told in told(event) {
                    let line = told.line(seq, *at, &run);
                    assert!(!line.to_string().contains('\n'));
                    let at = line["at"].as_str().unwrap();
                    assert_eq!((&line["version"], at.parse::<UnixMs>().is_ok()), (&1.into(), true));
                    let mut members = told.data.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
                    members.sort();
                    shapes.entry(told.kind.as_str().to_owned()).or_insert_with(|| members.join(", "));
                }
            }
        }
    }
    assert!(shapes.len() > 15, "few kinds were seen: {shapes:?}");
    let shapes: Vec<String> = shapes.iter().map(|(kind, members)| format!("{kind}: {members}")).collect();
    insta::assert_snapshot!("shapes", shapes.join("\n"));
}
