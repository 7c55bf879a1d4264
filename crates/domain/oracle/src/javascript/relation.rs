//! What an assertion says of its subject, whatever runner it is written for.

/// How a subject is held against what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// The same value, of the same type, in every part.
    Same,
    /// The same value in every part, whatever its type, or with parts that are undefined.
    Alike,
    /// Equal after conversion.
    Loose,
    /// Some parts of it are given.
    Part,
    /// Equal to so many digits.
    Near,
    /// On one side of a bound.
    Bound,
    /// Of a type, a size or a kind.
    Kind,
    /// True, or false, after conversion.
    Truth,
    /// There at all.
    There,
    /// A call fails, in a way that is named where something is expected.
    Fails,
    /// A call does not fail.
    Passes,
    /// A stand-in was called with this.
    CalledWith,
    /// A stand-in was called so often.
    CalledTimes,
    /// A stand-in was called.
    Called,
    /// It is what was kept.
    Snapshot,
    /// So many assertions, or so many tests, are made.
    Plan,
    /// Fails whenever it is reached.
    Never,
    /// Something that the project, or a plug-in, says.
    Own,
}

/// What is compared with what in the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The subject, then what is expected.
    Two,
    /// The subject alone.
    One,
    /// A call that is to fail, then how.
    Failing,
    /// Nothing.
    None,
}

/// A method of an assertion library that takes its subject as an argument: `assert.equal(a, b)`, `t.is(a, b)`.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) relation: Relation,
    pub(super) shape: Shape,
    /// Whether it asks for the opposite.
    pub(super) negated: bool,
}

const fn two(name: &'static str, relation: Relation) -> Method {
    Method { name, relation, shape: Shape::Two, negated: false }
}
const fn not_two(name: &'static str, relation: Relation) -> Method {
    Method { name, relation, shape: Shape::Two, negated: true }
}
const fn one(name: &'static str, relation: Relation) -> Method {
    Method { name, relation, shape: Shape::One, negated: false }
}
const fn not_one(name: &'static str, relation: Relation) -> Method {
    Method { name, relation, shape: Shape::One, negated: true }
}
const fn failing(name: &'static str, relation: Relation) -> Method {
    Method { name, relation, shape: Shape::Failing, negated: false }
}

use Relation::{
    Alike, Bound, Called, CalledTimes, CalledWith, Fails, Kind, Loose, Near, Never, Part, Passes, Same,
    Snapshot, There, Truth,
};

/// Methods of `assert` of node and of chai, and of the test objects of tap, tape, AVA and QUnit.
pub(super) const METHODS: [Method; 119] = [
    two("strictEqual", Same),
    two("strictEquals", Same),
    two("deepStrictEqual", Same),
    two("is", Same),
    two("isStrict", Same),
    two("strictSame", Same),
    two("strictDeepEqual", Same),
    two("partialDeepStrictEqual", Part),
    // `equal` and `deepEqual` compare loosely where the library is node's own and not strict; see `Library`.
    two("equal", Same),
    two("equals", Same),
    two("isEqual", Same),
    two("deepEqual", Same),
    two("deepEquals", Same),
    two("same", Loose),
    two("sameDeepMembers", Same),
    two("sameMembers", Same),
    two("sameOrderedMembers", Same),
    two("propEqual", Alike),
    two("looseEqual", Loose),
    two("looseEquals", Loose),
    two("deepLooseEqual", Loose),
    two("closeTo", Near),
    two("approximately", Near),
    two("match", Part),
    two("matches", Part),
    two("has", Part),
    two("hasStrict", Part),
    two("like", Part),
    two("regex", Part),
    two("include", Part),
    two("includes", Part),
    two("deepInclude", Part),
    two("includeMembers", Part),
    two("matchObject", Part),
    two("matchOnly", Part),
    two("property", Part),
    two("deepPropertyVal", Same),
    two("propertyVal", Same),
    two("isAbove", Bound),
    two("isAtLeast", Bound),
    two("isBelow", Bound),
    two("isAtMost", Bound),
    two("type", Kind),
    two("typeOf", Kind),
    two("instanceOf", Kind),
    two("lengthOf", Kind),
    two("hasAllKeys", Kind),
    two("hasAnyKeys", Kind),
    not_two("notEqual", Same),
    not_two("notEquals", Same),
    not_two("not", Same),
    not_two("isNot", Same),
    not_two("notSame", Loose),
    not_two("notStrictSame", Same),
    not_two("notStrictEqual", Same),
    not_two("notDeepEqual", Same),
    not_two("notDeepStrictEqual", Same),
    not_two("notLooseEqual", Loose),
    not_two("notDeepLooseEqual", Loose),
    not_two("notMatch", Part),
    not_two("doesNotMatch", Part),
    not_two("notRegex", Part),
    not_two("notHas", Part),
    not_two("notInclude", Part),
    not_two("notProperty", Part),
    not_two("notInstanceOf", Kind),
    not_two("notTypeOf", Kind),
    one("ok", Truth),
    one("assert", Truth),
    one("truthy", Truth),
    one("isOk", Truth),
    one("isTruthy", Truth),
    one("exists", There),
    one("isDefined", There),
    one("true", Same),
    one("isTrue", Same),
    one("false", Same),
    one("isFalse", Same),
    one("isNull", Same),
    one("isUndefined", Same),
    one("isNaN", Same),
    one("isEmpty", Kind),
    one("isArray", Kind),
    one("isObject", Kind),
    one("isString", Kind),
    one("isNumber", Kind),
    one("isBoolean", Kind),
    one("isFunction", Kind),
    not_one("notOk", Truth),
    not_one("falsy", Truth),
    not_one("isNotOk", Truth),
    not_one("notExists", There),
    not_one("isNotNull", Same),
    not_one("isNotEmpty", Kind),
    not_one("error", Truth),
    not_one("ifError", Truth),
    not_one("ifErr", Truth),
    not_one("isNotTrue", Same),
    not_one("isNotFalse", Same),
    failing("throws", Fails),
    failing("throw", Fails),
    failing("threw", Fails),
    failing("rejects", Fails),
    failing("throwsAsync", Fails),
    failing("raises", Fails),
    failing("doesNotThrow", Passes),
    failing("doesNotReject", Passes),
    failing("notThrows", Passes),
    failing("notThrowsAsync", Passes),
    failing("resolves", Passes),
    failing("doesNotThrowAsync", Passes),
    two("resolveMatch", Part),
    two("snapshot", Snapshot),
    two("matchSnapshot", Snapshot),
    two("fileSnapshot", Snapshot),
    one("emits", Called),
    Method { name: "fail", relation: Never, shape: Shape::None, negated: false },
    Method { name: "bailout", relation: Never, shape: Shape::None, negated: false },
    one("isFulfilled", Passes),
];

/// A matcher of `expect(…)`, by its name without what may change between versions of one runner.
pub(super) struct Matcher {
    pub(super) name: &'static str,
    pub(super) relation: Relation,
    /// What the matcher expects by its name.
    pub(super) expects: &'static str,
    /// Whether it asks for the opposite.
    pub(super) negated: bool,
}

const fn takes(name: &'static str, relation: Relation) -> Matcher {
    Matcher { name, relation, expects: "", negated: false }
}
const fn holds(name: &'static str, relation: Relation, expects: &'static str) -> Matcher {
    Matcher { name, relation, expects, negated: false }
}
const fn fails(name: &'static str, relation: Relation) -> Matcher {
    Matcher { name, relation, expects: "", negated: true }
}

/// Matchers of jest, vitest, jasmine and Playwright.
pub(super) const MATCHERS: [Matcher; 70] = [
    takes("toBe", Same),
    takes("toStrictEqual", Same),
    takes("toEqual", Alike),
    takes("toEqualTypeOf", Same),
    takes("toEqualValue", Alike),
    holds("toBeNull", Same, "null"),
    holds("toBeUndefined", Same, "undefined"),
    holds("toBeNaN", Same, "NaN"),
    holds("toBeTrue", Same, "true"),
    holds("toBeFalse", Same, "false"),
    takes("toMatchObject", Part),
    takes("toContain", Part),
    takes("toContainEqual", Part),
    takes("toMatch", Part),
    takes("toHaveProperty", Part),
    takes("toContainText", Part),
    takes("toHaveTextContent", Same),
    takes("toHaveText", Same),
    takes("toHaveValue", Same),
    takes("toHaveValues", Same),
    takes("toHaveAttribute", Same),
    takes("toHaveClass", Same),
    takes("toHaveStyle", Same),
    takes("toHaveURL", Same),
    takes("toHaveTitle", Same),
    takes("toHaveId", Same),
    takes("toHaveCSS", Same),
    takes("toHaveCount", Same),
    takes("toBeCloseTo", Near),
    takes("toBeGreaterThan", Bound),
    takes("toBeGreaterThanOrEqual", Bound),
    takes("toBeLessThan", Bound),
    takes("toBeLessThanOrEqual", Bound),
    takes("toBeInstanceOf", Kind),
    takes("toBeTypeOf", Kind),
    takes("toHaveLength", Kind),
    takes("toHaveSize", Kind),
    takes("toBeTruthy", Truth),
    fails("toBeFalsy", Truth),
    takes("toBeDefined", There),
    takes("toBeInTheDocument", There),
    takes("toBeAttached", There),
    takes("toBeVisible", Truth),
    takes("toBeHidden", Own),
    takes("toThrow", Fails),
    takes("toThrowError", Fails),
    takes("toThrowMatching", Fails),
    takes("toBeRejected", Fails),
    takes("toBeRejectedWith", Fails),
    takes("toBeRejectedWithError", Fails),
    takes("toBeResolved", Passes),
    takes("toBeResolvedTo", Same),
    takes("toHaveBeenCalledWith", CalledWith),
    takes("toHaveBeenLastCalledWith", CalledWith),
    takes("toHaveBeenNthCalledWith", CalledWith),
    takes("toHaveBeenCalledOnceWith", CalledWith),
    takes("toHaveBeenCalledExactlyOnceWith", CalledWith),
    takes("toHaveReturnedWith", CalledWith),
    takes("toHaveLastReturnedWith", CalledWith),
    takes("toHaveBeenCalledTimes", CalledTimes),
    takes("toHaveReturnedTimes", CalledTimes),
    holds("toHaveBeenCalledOnce", CalledTimes, "1"),
    takes("toHaveBeenCalled", Called),
    takes("toHaveReturned", Called),
    takes("toMatchSnapshot", Snapshot),
    takes("toMatchInlineSnapshot", Snapshot),
    takes("toThrowErrorMatchingSnapshot", Snapshot),
    takes("toThrowErrorMatchingInlineSnapshot", Snapshot),
    takes("toHaveScreenshot", Snapshot),
    takes("toMatchFileSnapshot", Snapshot),
];

use Relation::Own;

/// Other names of the same matcher.
pub(super) const ALIASES: [(&str, &str); 10] = [
    ("toBeCalledWith", "toHaveBeenCalledWith"),
    ("lastCalledWith", "toHaveBeenLastCalledWith"),
    ("nthCalledWith", "toHaveBeenNthCalledWith"),
    ("toBeCalledTimes", "toHaveBeenCalledTimes"),
    ("toBeCalled", "toHaveBeenCalled"),
    ("toReturnWith", "toHaveReturnedWith"),
    ("lastReturnedWith", "toHaveLastReturnedWith"),
    ("toReturnTimes", "toHaveReturnedTimes"),
    ("toReturn", "toHaveReturned"),
    ("toThrowError", "toThrow"),
];

/// Words at the end of a chain of chai, of should.js and of Cypress.
pub(super) const WORDS: [Matcher; 66] = [
    takes("equal", Same),
    takes("equals", Same),
    takes("eq", Same),
    takes("eql", Same),
    takes("eqls", Same),
    takes("members", Same),
    takes("ordered", Same),
    holds("true", Same, "true"),
    holds("false", Same, "false"),
    holds("null", Same, "null"),
    holds("undefined", Same, "undefined"),
    holds("NaN", Same, "NaN"),
    takes("property", Part),
    takes("include", Part),
    takes("includes", Part),
    takes("contain", Part),
    takes("contains", Part),
    takes("string", Part),
    takes("match", Part),
    takes("matches", Part),
    takes("keys", Kind),
    takes("key", Kind),
    takes("oneOf", Part),
    takes("satisfy", Own),
    takes("within", Bound),
    takes("above", Bound),
    takes("gt", Bound),
    takes("greaterThan", Bound),
    takes("least", Bound),
    takes("gte", Bound),
    takes("below", Bound),
    takes("lt", Bound),
    takes("lessThan", Bound),
    takes("most", Bound),
    takes("lte", Bound),
    takes("closeTo", Near),
    takes("approximately", Near),
    takes("a", Kind),
    takes("an", Kind),
    takes("instanceof", Kind),
    takes("instanceOf", Kind),
    takes("lengthOf", Kind),
    takes("length", Kind),
    takes("empty", Kind),
    takes("arguments", Kind),
    takes("ok", Truth),
    takes("exist", There),
    takes("throw", Fails),
    takes("throws", Fails),
    takes("Throw", Fails),
    takes("rejected", Fails),
    takes("rejectedWith", Fails),
    takes("fulfilled", Passes),
    takes("calledWith", CalledWith),
    takes("calledWithExactly", CalledWith),
    takes("calledWithMatch", CalledWith),
    takes("calledOnceWith", CalledWith),
    takes("calledOnceWithExactly", CalledWith),
    takes("callCount", CalledTimes),
    holds("calledOnce", CalledTimes, "1"),
    holds("calledTwice", CalledTimes, "2"),
    takes("called", Called),
    takes("text", Same),
    takes("value", Same),
    takes("attr", Part),
    takes("visible", Truth),
];
