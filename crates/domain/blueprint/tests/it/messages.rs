//! What a person sees.

use ambit_blueprint::{Blueprint, Document, DocumentKind};

use crate::page::{edited, sample};

fn seen(text: &str) -> String {
    Document::parse("bp-1.yaml", text.as_bytes()).unwrap_err().render()
}

fn seen_in_blueprint(from: &str, to: &str) -> String {
    seen(&edited(sample(DocumentKind::Blueprint), from, to))
}

#[test]
fn a_misspelled_field_is_told_with_the_one_that_was_meant() {
    insta::assert_snapshot!(seen_in_blueprint("maxModelSteps: 24", "maxModelStep: 24"), @r#"
    error[DOCUMENT_UNKNOWN_FIELD]: `spec.runBudget` has no field `maxModelStep`
      --> bp-1.yaml:41:5
       |
    41 |     maxModelStep: 24
       |     ^^^^^^^^^^^^ did you mean `maxModelSteps`?
    "#);
}

#[test]
fn a_field_like_no_other_is_told_with_those_that_there_are() {
    insta::assert_snapshot!(seen_in_blueprint("    afterDays: 0", "    afterDays: 0\n      shell: rm -rf /"), @r#"
    error[DOCUMENT_UNKNOWN_FIELD]: `spec.accountability.cleanup` has no field `shell`
      --> bp-1.yaml:17:7
       |
    17 |       shell: rm -rf /
       |       ^^^^^
       |
       = help: the fields here are `obligation` and `afterDays`
    "#);
}

#[test]
fn a_missing_field_is_told_at_the_mapping_that_lacks_it() {
    insta::assert_snapshot!(seen_in_blueprint("    owner: Todo team\n", ""), @r#"
    error[DOCUMENT_MISSING_FIELD]: `spec.accountability` lacks the field `owner`
      --> bp-1.yaml:11:3
       |
    11 |   accountability:
       |   ^^^^^^^^^^^^^^ `owner` must stand here
    "#);
}

#[test]
fn a_word_outside_of_its_vocabulary_is_told_with_the_words() {
    insta::assert_snapshot!(seen_in_blueprint("stage: generate", "stage: generating"), @r#"
    error[DOCUMENT_UNKNOWN_WORD]: `spec.stage` cannot be `generating`
      --> bp-1.yaml:10:10
       |
    10 |   stage: generating
       |          ^^^^^^^^^^ did you mean `generate`?
       |
       = help: the words are `create`, `generate`, `preview`, `managed-data`, `connectors`, `identity`, `share`, `publish`, `change`, `operate` and `retire`
    "#);
}

#[test]
fn a_switch_of_older_yaml_is_neither_a_boolean_nor_text() {
    insta::assert_snapshot!(seen_in_blueprint("title: Create and complete a todo", "title: yes"), @r#"
    error[DOCUMENT_AMBIGUOUS_SCALAR]: `metadata.title` is not text to every reader of YAML
     --> bp-1.yaml:6:10
      |
    6 |   title: yes
      |          ^^^ put it in quotes
    "#);
}

#[test]
fn a_number_out_of_range_is_told_with_the_range() {
    insta::assert_snapshot!(seen_in_blueprint("maxToolCostUsd: 4.00", "maxToolCostUsd: 100.01"), @r#"
    error[DOCUMENT_OUT_OF_RANGE]: `spec.runBudget.maxToolCostUsd` must be 0.00 to 100.00 US dollars, and is `100.01`
      --> bp-1.yaml:47:21
       |
    47 |     maxToolCostUsd: 100.01
       |                     ^^^^^^
    "#);
}

#[test]
fn several_independent_problems_are_told_in_the_order_of_the_document() {
    let text = edited(sample(DocumentKind::Blueprint), "version: 1\n", "version: one\n");
    let text = edited(&text, "cases: [AC-2]", "cases: [AC-3]");
    let text = edited(&text, "maxChangedFiles: 12", "maxChangedFiles: 0x0c");
    insta::assert_snapshot!(seen(&text), @r#"
    error[DOCUMENT_WRONG_TYPE]: `metadata.version` must be an integer in decimal digits, and is text
     --> bp-1.yaml:5:12
      |
    5 |   version: one
      |            ^^^ write it as 0 or as digits without a leading zero

    error[DOCUMENT_UNKNOWN_REFERENCE]: there is no acceptance case `AC-3`
      --> bp-1.yaml:33:15
       |
    33 |       cases: [AC-3]
       |               ^^^^ it is not among the `acceptanceCases`

    error[DOCUMENT_WRONG_TYPE]: `spec.runBudget.maxChangedFiles` must be an integer in decimal digits, and is something that readers of YAML disagree about
      --> bp-1.yaml:44:22
       |
    44 |     maxChangedFiles: 0x0c
       |                      ^^^^ write it as 0 or as digits without a leading zero
    "#);
}

#[test]
fn a_document_on_one_line_is_shown_around_the_place() {
    let document = Document::parse("doc", sample(DocumentKind::Blueprint).as_bytes()).unwrap();
    let json = String::from_utf8(document.to_canonical().unwrap().into_bytes()).unwrap();
    insta::assert_snapshot!(seen(&edited(&json, "\"maxModelSteps\":24", "\"maxModelSteps\":\"24\"")), @r#"
    error[DOCUMENT_WRONG_TYPE]: `spec.runBudget.maxModelSteps` must be an integer in decimal digits, and is text in quotes
     --> bp-1.yaml:1:1932
      |
    1 | …,"maxElapsedMinutes":30,"maxModelSteps":"24","maxOutputBytes":67108864,"maxParallelProcesses":2,…
      |                                          ^^^^ remove the quotes
    "#);
}

#[test]
fn what_is_not_yaml_is_told_at_the_place_where_it_stops_to_be() {
    insta::assert_snapshot!(seen_in_blueprint("paths: [\"src/**\", \"pyproject.toml\"]", "paths: [\"src/**\""), @r#"
    error[DOCUMENT_SYNTAX]: the document is not well-formed YAML
      --> bp-1.yaml:24:5
       |
    24 |     work: [domain, repository, api, interface, tests]
       |     ^ invalid indentation
    "#);
}

#[test]
fn one_line_says_what_and_where_and_how_much_more() {
    let text = sample(DocumentKind::PolicyBundle);
    let error = Blueprint::parse("rules.yaml", text.as_bytes()).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @r#"
    rules.yaml:2:7: the document is a PolicyBundle, where a Blueprint is wanted
    "#);
    let text = edited(sample(DocumentKind::Blueprint), "owner: Todo team", "owner: ''");
    let text = edited(&text, "afterDays: 0", "afterDays: -1");
    let error = Blueprint::parse("bp-1.yaml", text.as_bytes()).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @r#"
    bp-1.yaml:12:12: `spec.accountability.owner` is empty (and 1 more)
    "#);
}
