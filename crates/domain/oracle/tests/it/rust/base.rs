//! The files that edits are made in.

use crate::edits::Base;

/// A file of integration tests.
pub(super) const TESTS: Base = Base {
    path: "tests/cart.rs",
    text: r##"use cart::{parse, total, Item, Ledger};

mod helpers;

fn sample() -> Vec<Item> {
    vec![Item { price: 250, qty: 4 }, Item { price: 100, qty: 1 }]
}

fn assert_balanced(ledger: &Ledger) {
    assert_eq!(ledger.debits(), ledger.credits());
}

#[test]
fn counts_quantity() {
    let items = sample();
    assert_eq!(total(&items), 1100);
}

#[test]
fn empty_is_zero() {
    assert_eq!(total(&[]), 0);
    assert!(total(&[]) < 1, "nothing costs nothing");
}

#[test]
#[should_panic(expected = "negative quantity")]
fn rejects_negative() {
    Item::new(100, -1);
}

#[test]
fn parses() -> Result<(), cart::Error> {
    let items = parse("250x4,100x1")?;
    assert_eq!(items.len(), 2, "both are read");
    assert!(matches!(items[0], Item { price: 250, .. }));
    assert!((items[0].rate() - 2.5).abs() < 0.001);
    check(&items)?;
    Ok(())
}

#[test]
fn fails_on_garbage() {
    let error = parse("x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax);
    assert!(matches!(parse("1x"), Err(cart::Error::Truncated)));
}

#[test]
fn every_discount_holds() {
    for percent in [5, 10, 25] {
        assert!(discounted(&sample(), percent) < total(&sample()));
    }
}

#[test]
fn ledger_balances() {
    let ledger = Ledger::of(&sample());
    assert_balanced(&ledger);
    assert_ne!(ledger.debits(), 0);
}

#[rstest]
#[case(1, 250)]
#[case(2, 500)]
#[case(0, 0)]
fn scales(#[case] qty: u64, #[case] expected: u64) {
    assert_eq!(total(&[Item { price: 250, qty }]), expected);
}

#[tokio::test]
async fn stores_and_loads() {
    let store = open().await.unwrap();
    check_roundtrip(&store).await;
    let handle = tokio::spawn(async move { assert_eq!(store.load(1).await, sample()) });
    handle.await.unwrap();
}

#[test]
fn renders() {
    insta::assert_snapshot!(render(&sample()), @"2 items, 1100");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn order_does_not_matter(mut items in vec(any_item(), 0..8)) {
        let before = total(&items);
        items.reverse();
        prop_assert_eq!(total(&items), before);
    }
}

macro_rules! price_tests {
    ($($name:ident: $qty:expr => $expected:expr,)*) => {
        $(
            #[test]
            fn $name() {
                assert_eq!(total(&[Item { price: 250, qty: $qty }]), $expected);
            }
        )*
    };
}

price_tests! {
    one: 1 => 250,
    two: 2 => 500,
}
"##,
};

/// A source file with its tests in it.
pub(super) const SOURCE: Base = Base {
    path: "src/lib.rs",
    text: r##"//! Shopping cart totals.
#![warn(missing_docs)]

mod parse;

/// A line of a cart.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// In cents.
    pub price: u64,
    /// How many.
    pub qty: u64,
}

/// Sum of price times quantity in cents.
pub fn total(items: &[Item]) -> u64 {
    debug_assert!(items.len() < 1000);
    items.iter().map(|i| i.price).sum()
}

impl Item {
    /// A line.
    pub fn new(price: u64, qty: u64) -> Self {
        assert!(qty > 0, "a line has a quantity");
        Self { price, qty }
    }
}

impl Eq for Item {}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Item {
        Item { price: 2, qty: 3 }
    }

    #[test]
    fn one_line() {
        assert_eq!(total(&[item()]), 6);
    }

    #[test]
    fn empty_is_zero() {
        assert_eq!(total(&[]), 0);
    }
}

#[cfg(test)]
mod more_tests;
"##,
};
