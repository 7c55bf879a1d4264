//! Honest changes to the tests and the source of a JavaScript project.

use super::bases::{AVA, CYPRESS, JASMINE, JEST, MOCHA, NODE, ORDERS, PLAYWRIGHT, TAP, VITEST};
use super::{Edit, Honest};

const fn case(base: (&'static str, &'static str), edits: &'static [Edit]) -> Honest {
    Honest { base, edits }
}

pub(super) const HONEST: &[Honest] = &[
    // Set out otherwise.
    case(
        JEST,
        &[("    expect(sum).toBe(10)", "    expect(\n      sum,\n    ).toBe(\n      10, // ten\n    );")],
    ),
    case(JEST, &[("expect(names(sum)).toEqual(['a', 'b'])", "expect(names(sum)).toEqual([\"a\", \"b\"]);")]),
    case(JEST, &[("toBeCloseTo(0.3, 5)", "toBeCloseTo(0.30, 5)")]),
    case(NODE, &[("{ id: 'a' }", "{\n    'id': \"a\",\n  }")]),
    case(MOCHA, &[("function () {\n    expect(parse('a=1'))", "() => {\n    expect(parse('a=1'))")]),
    // Other names.
    case(
        JEST,
        &[
            ("const sum =", "const amount ="),
            ("expect(sum)", "expect(amount)"),
            ("names(sum)", "names(amount)"),
        ],
    ),
    case(JEST, &[("it('adds quantities'", "it('multiplies by quantity'")]),
    case(JEST, &[("describe('cart'", "describe('a cart'")]),
    case(JEST, &[("it('adds", "test('adds")]),
    case(MOCHA, &[("const parse = require('../lib/parse')", "const parse = require('../src/parse')")]),
    case(NODE, &[("import assert from 'node:assert'", "import * as assert from 'node:assert'")]),
    case(NODE, &[("import test from 'node:test'", "import { test } from 'node:test'")]),
    case(AVA, &[("t => {\n  t.is(", "tt => {\n  tt.is("), ("t.deepEqual(", "tt.deepEqual(")]),
    // Taken out of the test, or put into it.
    case(
        JEST,
        &[
            ("describe('cart'", "function checkSum (sum) {\n  expect(sum).toBe(10)\n}\n\ndescribe('cart'"),
            ("    expect(sum).toBe(10)\n", "    checkSum(sum)\n"),
        ],
    ),
    case(
        JEST,
        &[("    expect(sum).toBe(10)\n", "    const expected = 10\n    expect(sum).toBe(expected)\n")],
    ),
    case(
        JEST,
        &[(
            "    const sum = total([{ price: 2.5, qty: 4 }])\n    expect(sum).toBe(10)\n    expect(names(sum))",
            "    expect(total([{ price: 2.5, qty: 4 }])).toBe(10)\n    expect(names(10))",
        )],
    ),
    case(
        NODE,
        &[
            ("  const store = new Store()\n  assert", "  const store = await open()\n  assert"),
            ("test('reads'", "async function open () {\n  return new Store()\n}\n\ntest('reads'"),
        ],
    ),
    // As strong in other words.
    case(
        NODE,
        &[
            ("assert.strictEqual(store.size, 1)", "assert.equal(store.size, 1)"),
            ("'node:assert'", "'node:assert/strict'"),
        ],
    ),
    case(
        NODE,
        &[
            ("assert.deepStrictEqual(", "assert.deepEqual("),
            ("assert.strictEqual(", "assert.equal("),
            ("import assert from 'node:assert'", "import { strict as assert } from 'node:assert'"),
        ],
    ),
    case(NODE, &[("assert.strictEqual(store.size, 1)", "expect(store.size).toBe(1)")]),
    case(JEST, &[("toEqual(['a', 'b'])", "toStrictEqual(['a', 'b'])")]),
    case(JEST, &[("expect(sum).toBe(10)", "expect(sum).toEqual(10)")]),
    case(JEST, &[("expect(sum).toBe(10)", "assert.strictEqual(sum, 10)")]),
    case(JEST, &[("toHaveBeenCalledWith(5)", "toHaveBeenCalledExactlyOnceWith(5)")]),
    case(
        JEST,
        &[("await expect(charge(send, 5)).resolves.toBe('ok')", "expect(await charge(send, 5)).toBe('ok')")],
    ),
    case(JEST, &[("toHaveBeenCalledWith(5)", "toBeCalledWith(5)")]),
    case(JASMINE, &[("toBeTrue()", "toBe(true)")]),
    case(JASMINE, &[("toHaveSize(3)", "toHaveLength(3)")]),
    case(MOCHA, &[("to.deep.equal({ a: '1' })", "to.eql({ a: '1' })")]),
    case(MOCHA, &[("parse('x').should.eql({ x: '' })", "expect(parse('x')).to.deep.equal({ x: '' })")]),
    case(
        MOCHA,
        &[(
            "it('promises', function () {\n    return parse.soon('a=1').then(value => {\n      expect(value.a).to.equal('1')\n    })\n",
            "it('promises', async function () {\n    const value = await parse.soon('a=1')\n    expect(value.a).to.equal('1')\n",
        )],
    ),
    case(AVA, &[("t.true(await", "t.is(await"), ("slug.ready())", "slug.ready(), true)")]),
    case(PLAYWRIGHT, &[("page.getByLabel('Name')", "page.getByRole('textbox', { name: 'Name' })")]),
    case(
        PLAYWRIGHT,
        &[(
            "await expect(page.getByRole('alert')).toBeVisible()",
            "const alert = page.getByRole('alert')\n    await expect(alert).toBeVisible()",
        )],
    ),
    case(CYPRESS, &[("cy.get('.add').click()", "cy.get('[data-test=add]').click({ force: false })")]),
    // More of it.
    case(JEST, &[("    [0, 0],\n", "    [0, 0],\n    [3, 6],\n")]),
    case(JEST, &[("    expect(sum).toBe(10)\n", "    expect(sum).toBe(10)\n    expect(sum).toBeTruthy()\n")]),
    case(
        JEST,
        &[
            ("expect.assertions(2)", "expect.assertions(3)"),
            ("toHaveBeenCalledWith(5)", "toHaveBeenCalledWith(5)\n    expect(send).toHaveBeenCalledTimes(1)"),
        ],
    ),
    case(JEST, &[("toThrow(RangeError)", "toThrow(new RangeError('negative'))")]),
    case(
        JEST,
        &[(
            "  it('rounds'",
            "  it('is empty', () => {\n    expect(total([])).toBe(0)\n  })\n\n  it('rounds'",
        )],
    ),
    case(JEST, &[("toBeCloseTo(0.3, 5)", "toBeCloseTo(0.3, 9)")]),
    case(VITEST, &[("test('waits'", "test.concurrent('waits'")]),
    case(VITEST, &[("    ${9} | ${true}\n", "    ${8} | ${false}\n    ${9} | ${true}\n")]),
    case(NODE, &[("test('throws', () => {", "test('throws', { timeout: 500 }, () => {")]),
    case(NODE, &[("test('throws', () => {", "test('throws', { skip: false }, () => {")]),
    case(TAP, &[("t.plan(2)", "t.plan(3)"), ("[2])", "[2])\n  t.ok(pipe)")]),
    case(CYPRESS, &[("    cy.get('.total')", "    cy.get('.total').should('exist')\n    cy.get('.total')")]),
    // Cleaning up, waiting and branching as tests do.
    case(
        NODE,
        &[(
            "  assert.strictEqual(store.size, 1)\n",
            "  try {\n    assert.strictEqual(store.size, 1)\n  } finally {\n    await store.close()\n  }\n",
        )],
    ),
    case(
        NODE,
        &[(
            "  assert.strictEqual(store.size, 1)\n",
            "  try {\n    assert.strictEqual(store.size, 1)\n  } catch (error) {\n    console.error(store)\n    throw error\n  }\n",
        )],
    ),
    case(
        NODE,
        &[(
            "  assert.strictEqual(store.size, 1)\n",
            "  for (const size of [1]) {\n    assert.strictEqual(store.size, size)\n  }\n  assert.strictEqual(store.size, 1)\n",
        )],
    ),
    case(VITEST, &[("vi.useFakeTimers()", "vi.useFakeTimers({ now: 0 })")]),
    case(
        VITEST,
        &[(
            "vi.spyOn(clock, 'zone').mockReturnValue('utc')",
            "vi.spyOn(clock, 'zone').mockImplementation(() => 'utc')",
        )],
    ),
    case(JEST, &[("describe('cart'", "jest.mock('../src/log.js')\n\ndescribe('cart'")]),
    case(JEST, &[("describe('cart'", "afterEach(() => { jest.restoreAllMocks() })\n\ndescribe('cart'")]),
    case(
        PLAYWRIGHT,
        &[(
            "test.describe('login', () => {",
            "test.describe('login', () => {\n  test.use({ locale: 'en' })\n  test.slow()\n",
        )],
    ),
    // In the source.
    case(
        ORDERS,
        &[(
            "  return lines",
            "  // The parser must skip what it was told to ignore; never eslint-disable.\n  return lines",
        )],
    ),
    case(
        ORDERS,
        &[(
            "return lines.reduce",
            "if (process.env.NODE_ENV !== 'production') check(lines)\n  return lines.reduce",
        )],
    ),
    case(ORDERS, &[("function total(lines", "function sum(lines")]),
    case(
        ORDERS,
        &[(
            "WHERE tenant_id = ${tenantId} AND state = ${state}",
            "WHERE tenant_id = ${tenantId} AND state = ${state} ORDER BY id",
        )],
    ),
    case(
        ORDERS,
        &[(
            "WHERE tenant_id = ${tenantId} AND state = ${state}",
            "\n    WHERE state = ${state}\n      AND tenant_id = ${tenantId}\n  ",
        )],
    ),
    case(
        ORDERS,
        &[("where: { tenantId, paid: false }", "where: { paid: false, tenantId: tenantId }, take: 10")],
    ),
    case(
        ORDERS,
        &[("return lines.reduce", "if (lines.length === 0) process.exitCode = 1\n  return lines.reduce")],
    ),
    case(ORDERS, &[("return lines.reduce", "const test = /^x/.test(String(lines))\n  return lines.reduce")]),
    case(ORDERS, &[("return lines.reduce", "assert(lines.length > 0)\n  return lines.skip(1).reduce")]),
];
