//! The files that the cases change, one for each runner.

pub(super) const JEST: (&str, &str) = (
    "tests/cart.test.js",
    r#"import { charge, names, total } from '../src/cart.js'
import * as tax from '../src/tax.js'

describe('cart', () => {
  it('adds quantities', () => {
    const sum = total([{ price: 2.5, qty: 4 }])
    expect(sum).toBe(10)
    expect(names(sum)).toEqual(['a', 'b'])
  })

  it.each([
    [1, 2],
    [2, 4],
    [0, 0],
  ])('doubles %d', (n, twice) => {
    expect(total([{ price: n, qty: 2 }])).toBe(twice)
  })

  it('charges once', async () => {
    expect.assertions(2)
    const send = jest.fn()
    await expect(charge(send, 5)).resolves.toBe('ok')
    expect(send).toHaveBeenCalledWith(5)
  })

  it('rejects negatives', () => {
    expect(() => total([{ price: -1, qty: 1 }])).toThrow(RangeError)
  })

  it('rounds', () => {
    expect(total([{ price: 0.1, qty: 3 }])).toBeCloseTo(0.3, 5)
    expect(tax.rate('de')).toMatchInlineSnapshot(`"19 %"`)
  })
})
"#,
);

pub(super) const VITEST: (&str, &str) = (
    "tests/queue.test.ts",
    r#"import { describe, expect, test, vi } from 'vitest'
import { Queue } from '../src/queue'
import * as clock from '../src/clock'

describe('queue', () => {
  test('keeps order', () => {
    const queue = new Queue<number>()
    queue.push(1)
    queue.push(2)
    expect(queue.drain()).toStrictEqual([1, 2])
    expect(queue.size).toBe(0)
  })

  test('waits', async () => {
    vi.useFakeTimers()
    const done = new Queue<number>().next()
    await vi.advanceTimersByTimeAsync(1000)
    await expect(done).rejects.toThrow('timed out')
  })

  test.each`
    size | full
    ${1} | ${false}
    ${9} | ${true}
  `('is full at $size', ({ size, full }) => {
    expect(new Queue<number>(size).full).toBe(full)
  })

  test('stamps', () => {
    vi.spyOn(clock, 'zone').mockReturnValue('utc')
    expect(new Queue<number>().stamp()).toMatch(/^2026-/)
    expect(clock.zone).toHaveBeenCalledTimes(1)
  })
})
"#,
);

pub(super) const MOCHA: (&str, &str) = (
    "tests/parse.spec.js",
    r#"const { expect } = require('chai')
const parse = require('../lib/parse')

describe('parse', function () {
  it('reads pairs', function () {
    expect(parse('a=1')).to.deep.equal({ a: '1' })
    expect(parse('')).to.be.empty
  })

  it('calls back', function (done) {
    parse.later('a=1', function (err, value) {
      expect(err).to.equal(null)
      expect(value).to.have.property('a', '1')
      done()
    })
  })

  it('fails', function () {
    expect(() => parse(3)).to.throw(TypeError, /string/)
    parse('x').should.eql({ x: '' })
  })

  it('promises', function () {
    return parse.soon('a=1').then(value => {
      expect(value.a).to.equal('1')
    })
  })
})
"#,
);

pub(super) const NODE: (&str, &str) = (
    "tests/store.test.mjs",
    r#"import test from 'node:test'
import assert from 'node:assert'
import { Store } from '../src/store.mjs'

test('reads', async () => {
  const store = new Store()
  assert.deepStrictEqual(await store.get('a'), { id: 'a' })
  assert.strictEqual(store.size, 1)
})

test('throws', () => {
  assert.throws(() => new Store(-1), RangeError)
  assert.match(new Store().name, /^store-\d+$/)
})

test('nested', async (t) => {
  await t.test('rejects', async () => {
    await assert.rejects(new Store().get(''), { code: 'EMPTY' })
  })
})
"#,
);

pub(super) const JASMINE: (&str, &str) = (
    "tests/player.spec.js",
    r#"describe('player', function () {
  it('plays', function () {
    spyOn(player, 'persist').and.callThrough()
    player.play(song)
    expect(player.playing).toBeTrue()
    expect(player.persist).toHaveBeenCalledOnceWith(song)
  })

  it('refuses', async function () {
    await expectAsync(player.load('x')).toBeRejectedWithError(TypeError)
    expect(player.songs).toHaveSize(3)
  })
})
"#,
);

pub(super) const AVA: (&str, &str) = (
    "tests/slug.js",
    r#"import test from 'ava'
import slug from '../src/slug.js'

test('joins words', t => {
  t.is(slug('a b'), 'a-b')
  t.deepEqual(slug.parts('a b'), ['a', 'b'])
})

test('waits', async t => {
  t.plan(2)
  await t.throwsAsync(slug.load('x'), { instanceOf: TypeError })
  t.true(await slug.ready())
})
"#,
);

pub(super) const TAP: (&str, &str) = (
    "tests/pipe.js",
    r#"'use strict'
const t = require('tap')
const pipe = require('../lib/pipe')

t.test('pipes', t => {
  t.plan(2)
  t.equal(pipe(1), 2)
  t.strictSame(pipe.all([1]), [2])
})

t.test('ends', t => {
  pipe.later((err, value) => {
    t.error(err)
    t.equal(value, 7)
    t.end()
  })
})
"#,
);

pub(super) const PLAYWRIGHT: (&str, &str) = (
    "tests/login.spec.ts",
    r#"import { expect, test } from '@playwright/test'

test.describe('login', () => {
  test('greets', async ({ page }) => {
    await page.goto('/login')
    await page.getByLabel('Name').fill('ada')
    await expect(page.getByRole('heading')).toHaveText('Hello ada')
    await expect(page).toHaveURL(/home/)
  })

  test('refuses', async ({ page }) => {
    await page.goto('/login?x')
    await expect(page.getByRole('alert')).toBeVisible()
  })
})
"#,
);

pub(super) const CYPRESS: (&str, &str) = (
    "tests/basket.cy.js",
    r#"describe('basket', () => {
  it('fills', () => {
    cy.visit('/shop')
    cy.get('.add').click()
    cy.get('.count').should('have.text', '1')
    cy.get('.total').should('contain', '5').and('be.visible')
  })
})
"#,
);

pub(super) const ORDERS: (&str, &str) = (
    "src/orders.ts",
    r#"import { db, knex, prisma } from './db'

export async function orders(tenantId: string, state: string) {
  return db.query(sql`SELECT * FROM orders WHERE tenant_id = ${tenantId} AND state = ${state}`)
}

export function invoices(tenantId: string) {
  return prisma.invoice.findMany({ where: { tenantId, paid: false } })
}

export const items = (tenantId: string) =>
  knex('items').where({ tenant_id: tenantId }).andWhere('gone', false)

export function total(lines: Line[]): number {
  return lines.reduce((sum, line) => sum + line.price * line.count, 0)
}
"#,
);
