//! Go: what weakens its tests, and what does not.

use crate::edits::{Base, Honest, Weakened};

const TESTS: Base = Base {
    path: "cart/cart_test.go",
    text: r##"package cart

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	os.Exit(m.Run())
}

func sample() []Item {
	return []Item{{250, 4}, {100, 1}}
}

func requireBalanced(t *testing.T, l *Ledger) {
	t.Helper()
	if l.Debits() != l.Credits() {
		t.Fatalf("debits %d, credits %d", l.Debits(), l.Credits())
	}
}

func TestCountsQuantity(t *testing.T) {
	got := Total(sample())
	if got != 1100 {
		t.Errorf("Total = %d, want 1100", got)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want int
	}{
		{"empty", "", 0},
		{"one", "250x4", 1000},
		{"two", "250x4,100x1", 1100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if Total(got) != tt.want {
				t.Errorf("got %d", Total(got))
			}
		})
	}
}

func TestParseFails(t *testing.T) {
	_, err := Parse("x")
	if !errors.Is(err, ErrSyntax) {
		t.Fatalf("got %v", err)
	}
}

func TestLedger(t *testing.T) {
	l := NewLedger(sample())
	requireBalanced(t, l)
	require.NoError(t, l.Close())
	assert.Equal(t, 1100, l.Sum())
	assert.InDelta(t, 2.5, l.Rate(), 0.001)
	assert.Len(t, l.Lines(), 2)
	require.EqualError(t, l.Reopen(), "closed")
	if diff := cmp.Diff(sample(), l.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	l := NewLedger(nil)
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			assert.NoError(t, l.Add(Item{1, 1}))
		}()
	}
	wg.Wait()
	assert.Equal(t, 8, l.Sum())
}

func FuzzParse(f *testing.F) {
	f.Add("250x4")
	f.Add("")
	f.Fuzz(func(t *testing.T, in string) {
		if items, err := Parse(in); err == nil && Total(items) < 0 {
			t.Errorf("negative total of %q", in)
		}
	})
}

func ExampleTotal() {
	fmt.Println(Total(sample()))
	// Output: 1100
}
"##,
};

const SOURCE: Base = Base {
    path: "cart/cart.go",
    text: r##"package cart

import "errors"

// ErrSyntax tells text that is no cart.
var ErrSyntax = errors.New("syntax")

// Item is a line of a cart.
type Item struct {
	Price int
	Qty   int
}

// Total is the sum in cents.
func Total(items []Item) int {
	sum := 0
	for _, item := range items {
		sum += item.Price
	}
	return sum
}
"##,
};

const LOST: &[Weakened] = &[
    (
        "an error became a log",
        "t.Errorf(\"Total = %d, want 1100\", got)",
        "t.Logf(\"Total = %d, want 1100\", got)",
        "assertion-removed if got != 1100",
    ),
    (
        "a failure is gone",
        "\tif got != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", got)\n\t}\n",
        "\t_ = got\n",
        "assertion-removed if got != 1100",
    ),
    (
        "a failure is a comment",
        "\t\tt.Errorf(\"Total = %d, want 1100\", got)\n",
        "\t\t// t.Errorf(\"Total = %d, want 1100\", got)\n",
        "assertion-removed if got != 1100",
    ),
    (
        "an error is dropped",
        "\t\t\tgot, err := Parse(tt.in)\n\t\t\tif err != nil {\n\t\t\t\tt.Fatal(err)\n\t\t\t}\n",
        "\t\t\tgot, _ := Parse(tt.in)\n",
        "assertion-removed if err != nil",
    ),
    (
        "an error is put away",
        "\t\t\tif err != nil {\n\t\t\t\tt.Fatal(err)\n\t\t\t}\n",
        "\t\t\t_ = err\n",
        "assertion-removed if err != nil",
    ),
    (
        "a fatal became a return",
        "\t\t\t\tt.Fatal(err)\n",
        "\t\t\t\treturn\n",
        "assertion-removed if err != nil",
    ),
    (
        "a require is gone",
        "\trequire.NoError(t, l.Close())\n",
        "\tl.Close()\n",
        "assertion-removed require.NoError",
    ),
    ("an assert is gone", "\tassert.Equal(t, 1100, l.Sum())\n", "", "assertion-removed assert.Equal(t, 1100"),
    (
        "a result is dropped",
        "\tassert.Equal(t, 1100, l.Sum())\n",
        "\t_ = l.Sum()\n",
        "assertion-removed assert.Equal(t, 1100",
    ),
    (
        "a comparison is gone",
        "\tif diff := cmp.Diff(sample(), l.Lines()); diff != \"\" {\n\t\tt.Errorf(\"lines (-want +got):\\n%s\", diff)\n\t}\n",
        "",
        "assertion-removed cmp.Diff",
    ),
    (
        "a checking helper is no longer called",
        "\trequireBalanced(t, l)\n",
        "",
        "assertion-removed requireBalanced(t, l)",
    ),
    (
        "a checking helper checks nothing",
        "\t\tt.Fatalf(\"debits %d, credits %d\", l.Debits(), l.Credits())\n",
        "\t\tt.Logf(\"debits %d, credits %d\", l.Debits(), l.Credits())\n",
        "assertion-removed if l.Debits() != l.Credits()",
    ),
    (
        "a test is gone",
        "func TestParseFails(t *testing.T) {\n\t_, err := Parse(\"x\")\n\tif !errors.Is(err, ErrSyntax) {\n\t\tt.Fatalf(\"got %v\", err)\n\t}\n}\n",
        "",
        "test-removed func TestParseFails",
    ),
];

const LOOSENED: &[Weakened] = &[
    (
        "equal became not nil",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.NotNil(t, l.Sum())",
        "assertion-loosened assert.NotNil",
    ),
    (
        "equal became not zero",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.NotZero(t, l.Sum())",
        "assertion-loosened assert.NotZero",
    ),
    (
        "equal became an order",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.Greater(t, l.Sum(), 0)",
        "assertion-loosened assert.Greater",
    ),
    (
        "a length became not empty",
        "assert.Len(t, l.Lines(), 2)",
        "assert.NotEmpty(t, l.Lines())",
        "assertion-loosened assert.NotEmpty",
    ),
    (
        "an error became any error",
        "require.EqualError(t, l.Reopen(), \"closed\")",
        "require.Error(t, l.Reopen())",
        "assertion-loosened require.Error(t",
    ),
    ("a tolerance is wider", "l.Rate(), 0.001)", "l.Rate(), 10.0)", "assertion-loosened 10.0"),
    ("a condition is wider", "if got != 1100 {", "if got < 0 {", "assertion-loosened if got < 0"),
    (
        "a condition asks for more before it fails",
        "if got != 1100 {",
        "if got != 1100 && os.Getenv(\"STRICT\") != \"\" {",
        "assertion-loosened STRICT",
    ),
    (
        "an error became any error, by hand",
        "if !errors.Is(err, ErrSyntax) {",
        "if err == nil {",
        "assertion-loosened if err == nil",
    ),
    ("a condition never holds", "if got != 1100 {", "if false {", "assertion-unreachable if false"),
    (
        "a thing is compared with itself",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.Equal(t, l.Sum(), l.Sum())",
        "assertion-tautological l.Sum(), l.Sum()",
    ),
    (
        "it always holds",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.True(t, true)",
        "assertion-tautological assert.True(t, true)",
    ),
    (
        "a thing is compared with itself, by hand",
        "if got != 1100 {",
        "if got != got {",
        "assertion-tautological got != got",
    ),
    (
        "a number is another",
        "assert.Equal(t, 1100, l.Sum())",
        "assert.Equal(t, 350, l.Sum())",
        "expectation-changed 350",
    ),
    ("a number is another, by hand", "if got != 1100 {", "if got != 350 {", "expectation-changed 350"),
    (
        "a row is another",
        "{\"two\", \"250x4,100x1\", 1100},",
        "{\"two\", \"250x4,100x1\", 350},",
        "expectation-changed {\"two\"",
    ),
    ("an output is another", "// Output: 1100", "// Output: 350", "expectation-changed // Output: 350"),
];

const HIDDEN: &[Weakened] = &[
    (
        "it is skipped",
        "\tgot := Total(sample())\n",
        "\tt.Skip(\"flaky\")\n\tgot := Total(sample())\n",
        "skip-marker-added t.Skip",
    ),
    (
        "it is skipped now",
        "\tgot := Total(sample())\n",
        "\tt.SkipNow()\n\tgot := Total(sample())\n",
        "skip-marker-added t.SkipNow",
    ),
    (
        "it is skipped when short",
        "\tgot := Total(sample())\n",
        "\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tgot := Total(sample())\n",
        "skip-marker-added t.Skip()",
    ),
    (
        "it returns when short",
        "\tgot := Total(sample())\n",
        "\tif testing.Short() {\n\t\treturn\n\t}\n\tgot := Total(sample())\n",
        "assertion-unreachable return",
    ),
    (
        "it returns before",
        "\tl := NewLedger(sample())\n",
        "\tl := NewLedger(sample())\n\tif l.Sum() > 0 {\n\t\treturn\n\t}\n",
        "assertion-unreachable return",
    ),
    (
        "it is built for a tag",
        "package cart\n\nimport (\n",
        "//go:build integration\n\npackage cart\n\nimport (\n",
        "skip-marker-added //go:build integration",
    ),
    (
        "it has another name",
        "func TestCountsQuantity(",
        "func testCountsQuantity(",
        "test-uncollected func testCountsQuantity",
    ),
    (
        "it has a name that only looks like one",
        "func TestCountsQuantity(",
        "func TestcountsQuantity(",
        "test-uncollected func TestcountsQuantity",
    ),
    (
        "it takes another thing",
        "func TestCountsQuantity(t *testing.T) {",
        "func TestCountsQuantity(t testing.TB) {",
        "test-uncollected func TestCountsQuantity",
    ),
    ("a row is gone", "\t\t{\"two\", \"250x4,100x1\", 1100},\n", "", "parameter-dropped {\"two\""),
    (
        "a row is a comment",
        "\t\t{\"two\", \"250x4,100x1\", 1100},\n",
        "\t\t// {\"two\", \"250x4,100x1\", 1100},\n",
        "parameter-dropped {\"two\"",
    ),
    (
        "only some rows are run",
        "\tfor _, tt := range tests {\n",
        "\tfor _, tt := range tests[:1] {\n",
        "parameter-dropped tests[:1]",
    ),
    (
        "no row is run",
        "\tfor _, tt := range tests {\n",
        "\tfor _, tt := range tests[:0] {\n",
        "parameter-dropped tests[:0]",
    ),
    (
        "rows are passed over",
        "\tfor _, tt := range tests {\n",
        "\tfor _, tt := range tests {\n\t\tif tt.want > 0 {\n\t\t\tcontinue\n\t\t}\n",
        "assertion-unreachable continue",
    ),
    (
        "the process always ends well",
        "\tos.Exit(m.Run())\n",
        "\tm.Run()\n\tos.Exit(0)\n",
        "skip-marker-added os.Exit(0)",
    ),
    ("the tests are not run", "\tos.Exit(m.Run())\n", "\tos.Exit(0)\n", "skip-marker-added os.Exit(0)"),
    ("nothing is waited for", "\twg.Wait()\n", "", "test-not-awaited go func()"),
    (
        "it is asked in a goroutine",
        "\tgot := Total(sample())\n\tif got != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", got)\n\t}\n",
        "\tgo func() {\n\t\tgot := Total(sample())\n\t\tif got != 1100 {\n\t\t\tt.Errorf(\"Total = %d, want 1100\", got)\n\t\t}\n\t}()\n",
        "test-not-awaited go func()",
    ),
    (
        "a panic is caught",
        "\tgot := Total(sample())\n",
        "\tdefer func() { recover() }()\n\tgot := Total(sample())\n",
        "assertion-swallowed recover()",
    ),
    ("a seed is gone", "\tf.Add(\"250x4\")\n", "", "parameter-dropped f.Add(\"250x4\")"),
    ("an example is not compared", "\t// Output: 1100\n", "", "assertion-removed // Output: 1100"),
    (
        "an example may have any order",
        "// Output: 1100",
        "// Unordered output: 1100",
        "assertion-loosened // Unordered output",
    ),
    (
        "a lint is silenced in a test",
        "\trequire.NoError(t, l.Close())\n",
        "\trequire.NoError(t, l.Close()) //nolint:errcheck\n",
        "skip-marker-added //nolint",
    ),
];

const IN_SOURCE: &[Weakened] = &[
    (
        "source asks whether it is tested",
        "\tsum := 0\n",
        "\tif testing.Testing() {\n\t\treturn 1100\n\t}\n\tsum := 0\n",
        "test-detected testing.Testing()",
    ),
    (
        "source asks for the flags of tests",
        "\tsum := 0\n",
        "\tif flag.Lookup(\"test.v\") != nil {\n\t\treturn 1100\n\t}\n\tsum := 0\n",
        "test-detected flag.Lookup(\"test.v\")",
    ),
    (
        "source looks at its name",
        "\tsum := 0\n",
        "\tif strings.HasSuffix(os.Args[0], \".test\") {\n\t\treturn 1100\n\t}\n\tsum := 0\n",
        "test-detected \".test\"",
    ),
    ("a lint is silenced", "\tsum := 0\n", "\tsum := 0 //nolint:ineffassign\n", "directive-added //nolint"),
    (
        "a finding is ignored",
        "\tsum := 0\n",
        "\t//lint:ignore SA4006 because\n\tsum := 0\n",
        "directive-added //lint:ignore",
    ),
    ("a secret is no secret", "\tsum := 0\n", "\tsum := 0 // #nosec G101\n", "directive-added #nosec"),
];

const HONEST: &[Honest] = &[
    ("a message is another", "\"Total = %d, want 1100\"", "\"Total(sample()) = %d, want 1100\""),
    (
        "an error is fatal",
        "t.Errorf(\"Total = %d, want 1100\", got)",
        "t.Fatalf(\"Total = %d, want 1100\", got)",
    ),
    (
        "a variable has another name",
        "\tgot := Total(sample())\n\tif got != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", got)\n",
        "\tsum := Total(sample())\n\tif sum != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", sum)\n",
    ),
    (
        "a value is asked for in place",
        "\tgot := Total(sample())\n\tif got != 1100 {\n",
        "\tif got := Total(sample()); got != 1100 {\n",
    ),
    (
        "by hand became testify",
        "\tif got != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", got)\n\t}\n",
        "\tassert.Equal(t, 1100, got)\n",
    ),
    (
        "an error is required",
        "\t\t\tif err != nil {\n\t\t\t\tt.Fatal(err)\n\t\t\t}\n",
        "\t\t\trequire.NoError(t, err)\n",
    ),
    ("assert became require", "assert.Equal(t, 1100, l.Sum())", "require.Equal(t, 1100, l.Sum())"),
    ("a message is added", "assert.Equal(t, 1100, l.Sum())", "assert.Equal(t, 1100, l.Sum(), \"all lines\")"),
    ("a tolerance is tighter", "l.Rate(), 0.001)", "l.Rate(), 0.0001)"),
    (
        "a row is added",
        "\t\t{\"two\", \"250x4,100x1\", 1100},\n",
        "\t\t{\"two\", \"250x4,100x1\", 1100},\n\t\t{\"three\", \"1x1,1x1,1x1\", 3},\n",
    ),
    (
        "rows are in another order",
        "\t\t{\"empty\", \"\", 0},\n\t\t{\"one\", \"250x4\", 1000},\n",
        "\t\t{\"one\", \"250x4\", 1000},\n\t\t{\"empty\", \"\", 0},\n",
    ),
    ("rows name their fields", "\t\t{\"empty\", \"\", 0},\n", "\t\t{name: \"empty\", in: \"\", want: 0},\n"),
    (
        "a test is added",
        "func TestLedger(",
        "func TestOne(t *testing.T) {\n\tassert.Equal(t, 1, Total([]Item{{1, 1}}))\n}\n\nfunc TestLedger(",
    ),
    ("a test has another name", "func TestCountsQuantity(", "func TestTotalCountsQuantity("),
    (
        "a test has another name for its handle",
        "func TestCountsQuantity(t *testing.T) {\n\tgot := Total(sample())\n\tif got != 1100 {\n\t\tt.Errorf(",
        "func TestCountsQuantity(tt *testing.T) {\n\tgot := Total(sample())\n\tif got != 1100 {\n\t\ttt.Errorf(",
    ),
    (
        "a helper takes the check",
        "\tif got != 1100 {\n\t\tt.Errorf(\"Total = %d, want 1100\", got)\n\t}\n}\n",
        "\tcheckTotal(t, got, 1100)\n}\n\nfunc checkTotal(t *testing.T, got, want int) {\n\tt.Helper()\n\tif got != want {\n\t\tt.Errorf(\"Total = %d, want %d\", got, want)\n\t}\n}\n",
    ),
    (
        "a subtest is run at once with others",
        "\t\t\tgot, err := Parse(tt.in)\n",
        "\t\t\tt.Parallel()\n\t\t\tgot, err := Parse(tt.in)\n",
    ),
    (
        "the loop variable is kept",
        "\tfor _, tt := range tests {\n",
        "\tfor _, tt := range tests {\n\t\ttt := tt\n",
    ),
    ("the loop is over a number", "for i := 0; i < 8; i++ {", "for range 8 {"),
    ("a seed is added", "\tf.Add(\"\")\n", "\tf.Add(\"\")\n\tf.Add(\"1x\")\n"),
    ("set-up is around the run", "\tos.Exit(m.Run())\n", "\tcode := m.Run()\n\tcleanUp()\n\tos.Exit(code)\n"),
    ("a comment is added", "func TestLedger(", "// TestLedger goes through one ledger.\nfunc TestLedger("),
    (
        "a call of the product has another argument",
        "\tl := NewLedger(sample())\n",
        "\tl := NewLedger(context.Background(), sample())\n",
    ),
    (
        "a check is added",
        "\trequireBalanced(t, l)\n",
        "\trequireBalanced(t, l)\n\tassert.True(t, l.Closed())\n",
    ),
    ("errors are compared the older way", "if !errors.Is(err, ErrSyntax) {", "if err != ErrSyntax {"),
    (
        "a set-up step that fails is fatal",
        "\tl := NewLedger(sample())\n",
        "\tl, err := OpenLedger(sample())\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n",
    ),
    (
        "the context of the test is used",
        "\tl := NewLedger(nil)\n",
        "\tl := NewLedger(nil)\n\tt.Cleanup(func() { _ = l.Close() })\n",
    ),
];

const HONEST_SOURCE: &[Honest] = &[
    ("the fix", "sum += item.Price\n", "sum += item.Price * item.Qty\n"),
    ("a return in the product", "\tsum := 0\n", "\tif len(items) == 0 {\n\t\treturn 0\n\t}\n\tsum := 0\n"),
    ("an error is put away in the product", "\tsum := 0\n", "\t_ = os.Remove(\"x\")\n\tsum := 0\n"),
    ("a file is built for one system", "package cart\n", "//go:build unix\n\npackage cart\n"),
    ("a panic is caught in the product", "\tsum := 0\n", "\tdefer func() { _ = recover() }()\n\tsum := 0\n"),
];

#[test]
fn the_tables_are_as_large_as_they_are_said_to_be() {
    let weakenings = [LOST, LOOSENED, HIDDEN, IN_SOURCE].concat();
    let honest = [HONEST, HONEST_SOURCE].concat();
    assert!(weakenings.len() >= 58, "{}", weakenings.len());
    assert!(honest.len() >= 32, "{}", honest.len());
}

// proves E-F05
// break crates/domain/oracle/src/facts.rs: `Language::Go => each(crate::go::outline),` -> `Language::Go => return None,`
#[test]
fn an_assertion_that_is_lost_or_weaker_is_told_at_its_line() {
    assert_eq!(TESTS.untold(LOST), Vec::<String>::new());
    assert_eq!(TESTS.untold(LOOSENED), Vec::<String>::new());
}

// proves E-F07
// break crates/domain/oracle/src/facts.rs: `Language::Go => each(crate::go::outline),` -> `Language::Go => return None,`
#[test]
fn a_test_that_no_longer_runs_and_a_check_that_is_silenced_are_told_at_their_line() {
    assert_eq!(TESTS.untold(HIDDEN), Vec::<String>::new());
    assert_eq!(SOURCE.untold(IN_SOURCE), Vec::<String>::new());
}

#[test]
fn honest_changes_of_tests_and_of_source_are_not_told() {
    assert_eq!(TESTS.wrong(HONEST), Vec::<String>::new());
    assert_eq!(SOURCE.wrong(HONEST_SOURCE), Vec::<String>::new());
}
