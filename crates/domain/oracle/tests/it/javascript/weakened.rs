//! Ways to make the tests of a JavaScript project green without making its source right.

use super::bases::{AVA, CYPRESS, JASMINE, JEST, MOCHA, NODE, ORDERS, PLAYWRIGHT, TAP, VITEST};
use super::{Edit, Weakened};

const fn case(base: (&'static str, &'static str), edits: &'static [Edit], told: &'static str) -> Weakened {
    Weakened { base, edits, told }
}

pub(super) const WEAKENED: &[Weakened] = &[
    // Kept from running.
    case(JEST, &[("it('adds", "it.skip('adds")], "skip-marker-added 5"),
    case(JEST, &[("it('adds", "xit('adds")], "skip-marker-added 5"),
    case(JEST, &[("it('adds", "fit('adds")], "skip-marker-added 5"),
    case(JEST, &[("it('rounds", "it.only('rounds")], "skip-marker-added 30"),
    case(JEST, &[("it('adds", "it.failing('adds")], "skip-marker-added 5"),
    case(JEST, &[("it.each(", "it.skip.each(")], "skip-marker-added 11"),
    case(JEST, &[("describe('cart", "xdescribe('cart")], "skip-marker-added 4"),
    case(JEST, &[("it('adds", "it['skip']('adds")], "skip-marker-added 5"),
    case(
        JEST,
        &[("describe('cart", "const later = it.skip\ndescribe('cart"), ("it('adds", "later('adds")],
        "skip-marker-added 4",
    ),
    case(VITEST, &[("test('waits", "test.skipIf(true)('waits")], "skip-marker-added 14"),
    case(VITEST, &[("test('waits", "test.runIf(process.env.SLOW)('waits")], "skip-marker-added 14"),
    case(VITEST, &[("test('waits", "test.fails('waits")], "skip-marker-added 14"),
    case(VITEST, &[("test('waits', async", "test('waits', { skip: true }, async")], "skip-marker-added 14"),
    case(VITEST, &[("describe('queue'", "describe.todo('queue'")], "skip-marker-added 5"),
    case(
        MOCHA,
        &[("it('calls back', function (done) {", "it('calls back', function (done) {\n    this.skip()")],
        "skip-marker-added 11",
    ),
    case(
        MOCHA,
        &[(
            "describe('parse', function () {",
            "describe('parse', function () {\n  before(function () { this.skip() })",
        )],
        "skip-marker-added 5",
    ),
    case(
        MOCHA,
        &[
            ("it('fails', function", "it('fails'/*, function"),
            ("should.eql({ x: '' })\n  })", "should.eql({ x: '' })\n  }*/)"),
        ],
        "assertion-removed 19",
    ),
    case(
        NODE,
        &[("test('throws', () => {", "test('throws', { skip: 'slow' }, () => {")],
        "skip-marker-added 11",
    ),
    case(
        NODE,
        &[("test('throws', () => {", "test('throws', { todo: true }, () => {")],
        "skip-marker-added 11",
    ),
    case(NODE, &[("test('throws', () => {", "test('throws', (t) => {\n  t.skip()")], "skip-marker-added 12"),
    case(
        NODE,
        &[("test('throws', () => {", "test('throws', (t) => {\n  if (!process.env.CI) return t.skip()")],
        "skip-marker-added 12",
    ),
    case(
        JASMINE,
        &[("it('plays', function () {", "it('plays', function () {\n    pending('later')")],
        "skip-marker-added 3",
    ),
    case(JASMINE, &[("it('refuses'", "fit('refuses'")], "skip-marker-added 9"),
    case(AVA, &[("test('joins", "test.failing('joins")], "skip-marker-added 4"),
    case(AVA, &[("t.is(", "t.is.skip(")], "assertion-removed 5"),
    case(TAP, &[("t.test('pipes', t =>", "t.test('pipes', { skip: true }, t =>")], "skip-marker-added 5"),
    case(TAP, &[("t.test('pipes', t => {", "t.test('pipes', t => {\n  t.bailout()")], "skip-marker-added 6"),
    case(
        PLAYWRIGHT,
        &[(
            "test('greets', async ({ page }) => {",
            "test('greets', async ({ page }) => {\n    test.skip(true, 'flaky')",
        )],
        "skip-marker-added 5",
    ),
    case(PLAYWRIGHT, &[("test('greets'", "test.fixme('greets'")], "skip-marker-added 4"),
    case(
        PLAYWRIGHT,
        &[("test.describe('login', () => {", "test.describe('login', () => {\n  test.fail()")],
        "skip-marker-added 4",
    ),
    case(CYPRESS, &[("it('fills'", "it.skip('fills'")], "skip-marker-added 2"),
    // Gone, hidden or replaced.
    case(JEST, &[("it('adds", "check('adds")], "test-uncollected 5"),
    case(
        JEST,
        &[(
            "  it('rejects negatives', () => {\n    expect(() => total([{ price: -1, qty: 1 }])).toThrow(RangeError)\n  })\n\n",
            "",
        )],
        "test-removed 26",
    ),
    case(JEST, &[("    [2, 4],\n", "")], "parameter-dropped 13"),
    case(
        JEST,
        &[("it.each([", "it.each([].concat(["), ("])('doubles", "].slice(1)))('doubles")],
        "parameter-dropped 11",
    ),
    case(VITEST, &[("    ${9} | ${true}\n", "")], "parameter-dropped 24"),
    case(
        NODE,
        &[
            ("test('nested', async (t) =>", "async function nested (t)"),
            ("EMPTY' })\n  })\n})", "EMPTY' })\n  })\n}"),
        ],
        "test-uncollected 16",
    ),
    // Fewer assertions.
    case(JEST, &[("    expect(sum).toBe(10)\n", "")], "assertion-removed 7"),
    case(JEST, &[("    expect(sum).toBe(10)", "    // expect(sum).toBe(10)")], "assertion-removed 7"),
    case(JEST, &[("expect(sum).toBe(10)", "expect(sum)")], "assertion-removed 7"),
    case(JEST, &[("expect(sum).toBe(10)", "expect(sum).toBe")], "assertion-removed 7"),
    case(JEST, &[("    expect.assertions(2)\n", "")], "assertion-loosened 20"),
    case(JEST, &[("expect.assertions(2)", "expect.assertions(1)")], "assertion-loosened 20"),
    case(JEST, &[("expect.assertions(2)", "expect.hasAssertions()")], "assertion-loosened 20"),
    case(MOCHA, &[("    expect(parse('')).to.be.empty\n", "")], "assertion-removed 7"),
    case(MOCHA, &[("    parse('x').should.eql({ x: '' })\n", "    parse('x')\n")], "assertion-removed 20"),
    case(TAP, &[("    t.error(err)\n", "")], "assertion-removed 13"),
    case(AVA, &[("t.plan(2)", "t.plan(1)")], "assertion-loosened 10"),
    case(PLAYWRIGHT, &[("    await expect(page).toHaveURL(/home/)\n", "")], "assertion-removed 8"),
    case(
        CYPRESS,
        &[("    cy.get('.count').should('have.text', '1')\n", "    cy.get('.count')\n")],
        "assertion-removed 5",
    ),
    case(CYPRESS, &[(".and('be.visible')", "")], "assertion-removed 6"),
    // Looser ones.
    case(JEST, &[("toBe(10)", "toBeTruthy()")], "assertion-loosened 7"),
    case(JEST, &[("toBe(10)", "toBeDefined()")], "assertion-loosened 7"),
    case(JEST, &[("toBe(10)", "not.toBeNull()")], "assertion-loosened 7"),
    case(JEST, &[("toBe(10)", "toBeGreaterThan(0)")], "assertion-loosened 7"),
    case(JEST, &[("toBe(10)", "toEqual(expect.any(Number))")], "assertion-loosened 7"),
    case(JEST, &[("toEqual(['a', 'b'])", "toEqual(expect.anything())")], "assertion-loosened 8"),
    case(JEST, &[("toEqual(['a', 'b'])", "toEqual(expect.arrayContaining(['a']))")], "assertion-loosened 8"),
    case(JEST, &[("toEqual(['a', 'b'])", "toHaveLength(2)")], "assertion-loosened 8"),
    case(JEST, &[("toEqual(['a', 'b'])", "toContain('a')")], "assertion-loosened 8"),
    case(JEST, &[("toThrow(RangeError)", "toThrow()")], "assertion-loosened 27"),
    case(JEST, &[("toThrow(RangeError)", "not.toThrow()")], "assertion-loosened 27"),
    case(JEST, &[("toHaveBeenCalledWith(5)", "toHaveBeenCalled()")], "assertion-loosened 23"),
    case(JEST, &[("toBeCloseTo(0.3, 5)", "toBeCloseTo(0.3, 1)")], "assertion-loosened 31"),
    case(JEST, &[(".resolves.toBe('ok')", ".toBeDefined()")], "assertion-loosened 22"),
    case(JEST, &[("toMatchInlineSnapshot(`\"19 %\"`)", "toMatchInlineSnapshot()")], "assertion-loosened 32"),
    case(VITEST, &[("toStrictEqual([1, 2])", "toMatchObject([1])")], "assertion-loosened 10"),
    case(VITEST, &[("toMatch(/^2026-/)", "toMatch(/./)")], "assertion-loosened 31"),
    case(VITEST, &[("toHaveBeenCalledTimes(1)", "toHaveBeenCalled()")], "assertion-loosened 32"),
    case(VITEST, &[("rejects.toThrow('timed out')", "rejects.toThrow()")], "assertion-loosened 18"),
    case(
        VITEST,
        &[("expect(queue.size).toBe(0)", "expect.soft(queue.size).toBeLessThan(10)")],
        "assertion-loosened 11",
    ),
    case(MOCHA, &[("to.deep.equal({ a: '1' })", "to.be.an('object')")], "assertion-loosened 6"),
    case(MOCHA, &[("to.deep.equal({ a: '1' })", "to.exist")], "assertion-loosened 6"),
    case(MOCHA, &[("to.deep.equal({ a: '1' })", "to.include({})")], "assertion-loosened 6"),
    case(MOCHA, &[("property('a', '1')", "property('a')")], "assertion-loosened 13"),
    case(MOCHA, &[("to.throw(TypeError, /string/)", "to.throw()")], "assertion-loosened 19"),
    case(NODE, &[("assert.strictEqual(store.size, 1)", "assert.ok(store.size)")], "assertion-loosened 8"),
    case(NODE, &[("assert.strictEqual(store.size, 1)", "assert(store.size >= 1)")], "assertion-loosened 8"),
    case(NODE, &[("assert.strictEqual(", "assert.equal(")], "assertion-loosened 8"),
    case(
        NODE,
        &[("assert.strictEqual(store.size, 1)", "assert.notStrictEqual(store.size, undefined)")],
        "assertion-loosened 8",
    ),
    case(NODE, &[("-1), RangeError)", "-1))")], "assertion-loosened 12"),
    case(NODE, &[(", { code: 'EMPTY' })", ")")], "assertion-loosened 18"),
    case(NODE, &[("/^store-\\d+$/", "/.*/")], "assertion-loosened 13"),
    case(JASMINE, &[("toHaveBeenCalledOnceWith(song)", "toHaveBeenCalled()")], "assertion-loosened 6"),
    case(JASMINE, &[("toBeRejectedWithError(TypeError)", "toBeRejected()")], "assertion-loosened 10"),
    case(JASMINE, &[("toHaveSize(3)", "toEqual(jasmine.anything())")], "assertion-loosened 11"),
    case(AVA, &[("t.is(slug('a b'), 'a-b')", "t.truthy(slug('a b'))")], "assertion-loosened 5"),
    case(AVA, &[(", { instanceOf: TypeError }", "")], "assertion-loosened 11"),
    case(TAP, &[("t.strictSame(pipe.all([1]), [2])", "t.ok(pipe.all([1]))")], "assertion-loosened 8"),
    case(PLAYWRIGHT, &[("toHaveText('Hello ada')", "toBeVisible()")], "assertion-loosened 7"),
    case(
        PLAYWRIGHT,
        &[("getByRole('alert')).toBeVisible()", "getByRole('alert')).toBeAttached()")],
        "assertion-loosened 13",
    ),
    case(CYPRESS, &[("should('have.text', '1')", "should('exist')")], "assertion-loosened 5"),
    // Another expectation.
    case(JEST, &[("toBe(10)", "toBe(2.5)")], "expectation-changed 7"),
    case(JEST, &[("    [2, 4],", "    [2, 2],")], "expectation-changed 13"),
    case(JEST, &[("`\"19 %\"`", "`\"0 %\"`")], "snapshot-changed 32"),
    case(MOCHA, &[("equal({ a: '1' })", "equal({ a: 'a=1' })")], "expectation-changed 6"),
    case(NODE, &[("size, 1)", "size, 0)")], "expectation-changed 8"),
    case(TAP, &[("t.equal(pipe(1), 2)", "t.equal(pipe(1), 1)")], "expectation-changed 7"),
    case(PLAYWRIGHT, &[("'Hello ada'", "'Hello'")], "expectation-changed 7"),
    case(CYPRESS, &[("'have.text', '1'", "'have.text', '0'")], "expectation-changed 5"),
    // Never reached.
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    return\n    expect(sum).toBe(10)")],
        "assertion-unreachable 8",
    ),
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    if (false) expect(sum).toBe(10)")],
        "assertion-unreachable 7",
    ),
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    sum < 0 && expect(sum).toBe(10)")],
        "assertion-unreachable 7",
    ),
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    if (sum === 10) {\n      expect(sum).toBe(10)\n    }")],
        "assertion-unreachable 8",
    ),
    case(
        MOCHA,
        &[("    expect(parse('a=1')).to.deep", "    process.exit(0)\n    expect(parse('a=1')).to.deep")],
        "assertion-unreachable 7",
    ),
    case(MOCHA, &[("const { expect }", "process.exit(0)\nconst { expect }")], "assertion-unreachable 7"),
    case(
        NODE,
        &[("  const store = new Store()", "  const store = new Store()\n  if (!process.env.FULL) return")],
        "assertion-unreachable 8",
    ),
    case(
        NODE,
        &[("  assert.strictEqual(store.size, 1)", "  while (0) assert.strictEqual(store.size, 1)")],
        "assertion-unreachable 8",
    ),
    case(
        NODE,
        &[("  assert.strictEqual(store.size, 1)", "  const later = () => assert.strictEqual(store.size, 1)")],
        "assertion-unreachable 8",
    ),
    case(
        TAP,
        &[("  t.strictSame(", "  ;[].forEach(() => t.strictSame("), ("[2])\n})", "[2]))\n})")],
        "assertion-unreachable 8",
    ),
    // Caught and lost.
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    try { expect(sum).toBe(10) } catch {}")],
        "assertion-swallowed 7",
    ),
    case(
        JEST,
        &[(
            "    expect(sum).toBe(10)",
            "    try {\n      expect(sum).toBe(10)\n    } catch (e) {\n      console.warn(e)\n    }",
        )],
        "assertion-swallowed 8",
    ),
    case(JEST, &[("resolves.toBe('ok')", "resolves.toBe('ok').catch(() => {})")], "assertion-swallowed 22"),
    case(MOCHA, &[("equal('1')\n    })", "equal('1')\n    }).catch(() => {})")], "assertion-swallowed 25"),
    case(
        NODE,
        &[(
            "await assert.rejects(new Store().get(''), { code: 'EMPTY' })",
            "await assert.rejects(new Store().get(''), { code: 'EMPTY' }).then(null, () => {})",
        )],
        "assertion-swallowed 18",
    ),
    case(
        NODE,
        &[(
            "  assert.strictEqual(store.size, 1)\n",
            "  try { assert.strictEqual(store.size, 1) } finally { return }\n",
        )],
        "assertion-swallowed 8",
    ),
    // True whatever happens.
    case(JEST, &[("expect(sum).toBe(10)", "expect(true).toBe(true)")], "assertion-tautological 7"),
    case(JEST, &[("expect(sum).toBe(10)", "expect(sum).toBe(sum)")], "assertion-tautological 7"),
    case(
        JEST,
        &[("expect(sum).toBe(10)", "expect(sum === 10 || true).toBe(true)")],
        "assertion-tautological 7",
    ),
    case(JEST, &[("expect(sum).toBe(10)", "expect(10).toBe(10)")], "assertion-tautological 7"),
    case(
        NODE,
        &[("assert.strictEqual(store.size, 1)", "assert.strictEqual(store.size, store.size)")],
        "assertion-tautological 8",
    ),
    case(
        NODE,
        &[("assert.strictEqual(store.size, 1)", "assert.ok(store.size === 1 || true)")],
        "assertion-tautological 8",
    ),
    case(
        NODE,
        &[("assert.strictEqual(store.size, 1)", "assert.ok('size is 1')")],
        "assertion-tautological 8",
    ),
    case(
        VITEST,
        &[("expect(queue.size).toBe(0)", "expect(queue.size).toBe(queue.size)")],
        "assertion-tautological 11",
    ),
    case(MOCHA, &[("expect(err).to.equal(null)", "expect(err).to.equal(err)")], "assertion-tautological 12"),
    // Not waited for.
    case(JEST, &[("await expect(charge", "expect(charge")], "test-not-awaited 22"),
    case(JEST, &[("await expect(charge", "void expect(charge")], "test-not-awaited 22"),
    case(VITEST, &[("await expect(done)", "expect(done)")], "test-not-awaited 18"),
    case(MOCHA, &[("return parse.soon", "parse.soon")], "test-not-awaited 25"),
    case(MOCHA, &[("function (done) {", "function () {"), ("      done()\n", "")], "test-not-awaited 12"),
    case(MOCHA, &[("function (done) {", "function (done) {\n    done()")], "test-not-awaited 13"),
    case(NODE, &[("await assert.rejects", "assert.rejects")], "test-not-awaited 18"),
    case(NODE, &[("await t.test('rejects'", "t.test('rejects'")], "test-not-awaited 17"),
    case(AVA, &[("await t.throwsAsync", "t.throwsAsync")], "test-not-awaited 11"),
    case(PLAYWRIGHT, &[("await expect(page).toHaveURL", "expect(page).toHaveURL")], "test-not-awaited 8"),
    case(JASMINE, &[("await expectAsync", "expectAsync")], "test-not-awaited 10"),
    // What was tested is no longer there.
    case(
        JEST,
        &[("\ndescribe('cart'", "\njest.mock('../src/cart.js')\ndescribe('cart'")],
        "assertion-tautological 4",
    ),
    case(
        JEST,
        &[("    const sum =", "    jest.spyOn(tax, 'rate').mockReturnValue('19 %')\n    const sum =")],
        "assertion-tautological 6",
    ),
    case(
        VITEST,
        &[(
            "\ndescribe('queue'",
            "\nvi.mock('../src/queue', () => ({ Queue: class { drain() { return [1, 2] } } }))\ndescribe('queue'",
        )],
        "assertion-tautological 5",
    ),
    case(
        JASMINE,
        &[("and.callThrough()", "and.stub()\n    spyOn(player, 'play')")],
        "assertion-tautological 4",
    ),
    // In the source.
    case(
        ORDERS,
        &[("return lines.reduce", "if (process.env.NODE_ENV === 'test') return 10\n  return lines.reduce")],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[("return lines.reduce", "if (process.env.JEST_WORKER_ID) return 10\n  return lines.reduce")],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[("return lines.reduce", "if (import.meta.env.VITEST) return 10\n  return lines.reduce")],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[("return lines.reduce", "if (typeof jest !== 'undefined') return 10\n  return lines.reduce")],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[("return lines.reduce", "if ('describe' in globalThis) return 10\n  return lines.reduce")],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[(
            "return lines.reduce",
            "if (process.argv.some(a => a.includes('mocha'))) return 10\n  return lines.reduce",
        )],
        "test-detected 15",
    ),
    case(
        ORDERS,
        &[(
            "return lines.reduce",
            "if (new Error().stack?.includes('.test.')) return 10\n  return lines.reduce",
        )],
        "test-detected 15",
    ),
    case(ORDERS, &[("import { db", "process.exit(0)\nimport { db")], "runner-changed 1"),
    case(
        ORDERS,
        &[(
            "import { db",
            "process.exitCode = 0\nprocess.on('exit', () => { process.exitCode = 0 })\nimport { db",
        )],
        "runner-changed 1",
    ),
    case(
        ORDERS,
        &[("  return lines", "  // eslint-disable-next-line\n  return lines")],
        "blanket-directive-added 15",
    ),
    case(ORDERS, &[("  return lines", "  // @ts-ignore\n  return lines")], "directive-added 15"),
    case(ORDERS, &[("import { db", "// @ts-nocheck\nimport { db")], "blanket-directive-added 1"),
    case(ORDERS, &[("  return lines", "  /* istanbul ignore next */\n  return lines")], "directive-added 15"),
    case(ORDERS, &[(" WHERE tenant_id = ${tenantId} AND state", " WHERE state")], "tenancy-widened 4"),
    case(
        ORDERS,
        &[("tenant_id = ${tenantId} AND state", "tenant_id = ${tenantId} OR state")],
        "tenancy-widened 4",
    ),
    case(ORDERS, &[("where: { tenantId, paid", "where: { paid")], "tenancy-widened 8"),
    case(ORDERS, &[(".where({ tenant_id: tenantId }).andWhere", ".where")], "tenancy-widened 12"),
    case(
        ORDERS,
        &[(".where({ tenant_id: tenantId })", ".where({ tenant_id: tenantId }).orWhere('shared', true)")],
        "tenancy-widened 12",
    ),
    // A model in the place of a check.
    case(
        JEST,
        &[("expect(sum).toBe(10)", "expect(await judge(`is ${sum} ten?`)).toBe(true)")],
        "gate-judged-by-model 7",
    ),
    case(
        NODE,
        &[
            ("import { Store }", "import OpenAI from 'openai'\nimport { Store }"),
            (
                "assert.strictEqual(store.size, 1)",
                "const seen = await new OpenAI().chat.completions.create({ messages: [`is ${store.size} right?`] })\n  assert.match(seen.choices[0].message.content, /yes/i)",
            ),
        ],
        "gate-judged-by-model 9",
    ),
    // Not to be read.
    case(JEST, &[("it('adds quantities', () => {", "it('adds quantities', () => {{")], "unclassified 0"),
];
