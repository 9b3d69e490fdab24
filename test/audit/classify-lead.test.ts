import { describe, expect, test } from 'vitest';
import { type AuditTimes, classifyLead, type LeadFacts } from '../../src/audit/classify-lead.ts';

const minute = 60_000;
const now = Date.parse('2026-01-31T12:00:00Z');
const times: AuditTimes = {
  clockAheadMs: 0,
  startedAt: now,
  settledBefore: now - 15 * minute,
  writtenAt: Infinity,
  lateAfterMs: 5 * minute,
};

const at = (minutes: number): string => new Date(now + minutes * minute).toISOString();
const came = (minutes: number): number => now + minutes * minute;

const classify = (
  sides: LeadFacts['sides'],
  createdAt: string | undefined,
  receivedAt?: number,
  horizon: number | undefined = came(-10_000),
) => {
  const finding = classifyLead({ id: 'a', createdAt, receivedAt, sides }, times, horizon);
  return finding && [finding.class, finding.reason];
};

const same = { on: 'both', differing: [], isWaiting: false } as const;
const unknownAge = 'its age is unknown: createdAt is no known form of time';

describe('a lead on both sides', () => {
  test('that is the same and came in time has nothing wrong with it, whatever its age', () => {
    for (const createdAt of [at(-60), at(-1), undefined]) {
      expect(classify(same, createdAt, came(-58))).toBeUndefined();
    }
  });

  test('is late when it came later than is allowed, and not at that time yet', () => {
    expect(classify(same, at(-60), came(-55))).toBeUndefined();
    expect(classify(same, at(-60), came(-55) + 1)).toEqual(['late', null]);
  });

  test('is late by the clock that can have been that of the receivers, and by both where both can', () => {
    const late = (ahead: number, minutes: number): string | undefined => {
      const facts = { id: 'a', createdAt: at(-600), receivedAt: came(-600 + minutes), sides: same };
      return classifyLead(facts, { ...times, clockAheadMs: ahead * minute })?.class;
    };
    // The receivers had the service's time.
    for (const ahead of [-20, 20]) expect([late(ahead, 1), late(ahead, 30)]).toEqual([undefined, 'late']);
    // They had the time here.
    expect([late(20, 1 - 20), late(20, 7 - 20)]).toEqual([undefined, 'late']);
    expect([late(-20, 1 + 20), late(-20, 7 + 20)]).toEqual([undefined, 'late']);
  });

  test('is of the first class that fits: different before pending before late', () => {
    const isWaiting = true;
    expect(classify({ ...same, isWaiting, differing: ['a.b'] }, at(-60), came(-1))).toEqual([
      'different',
      null,
    ]);
    expect(classify({ ...same, isWaiting }, at(-60), came(-1))).toEqual(['waiting', null]);
  });

  test('is not judged while it is young, and keeps what differs', () => {
    const facts = { id: 'a', createdAt: at(-15), receivedAt: came(-14) };
    const sides = { ...same, differing: ['name'] };
    expect(classifyLead({ ...facts, sides }, times)).toEqual({
      class: 'different',
      id: 'a',
      fields: ['name'],
      createdAt: at(-15),
      receivedAt: at(-14),
      reason: null,
    });
    expect(classifyLead({ ...facts, createdAt: at(-14), sides }, times)).toMatchObject({
      class: 'unsettled',
      fields: ['name'],
      reason: 'different so far',
    });
  });

  test('with fields that the filters do not ask for is different, unless it came during the audit', () => {
    const moved = { on: 'listed-outside' } as const;
    const why = 'the service lists it outside of the window or the filters';
    expect(classify(moved, at(-60), came(-59))).toEqual(['different', why]);
    expect(classify(moved, at(-1), came(-1))).toEqual(['unsettled', 'different so far']);
    expect(classify(moved, at(-60), came(0))).toBeUndefined();
    expect(classify(moved, undefined, came(-59))).toBeUndefined();
  });
});

describe('a lead that was not received', () => {
  test('is missing, or refused for the reason of its rejection', () => {
    expect(classify({ on: 'service', rejection: undefined }, at(-60))).toEqual(['missing', null]);
    expect(classify({ on: 'service', rejection: 'not_a_lead' }, at(-60))).toEqual(['refused', 'not_a_lead']);
  });

  test('is not judged while it is young; one without an age is old', () => {
    const missing = { on: 'service', rejection: undefined } as const;
    expect(classify(missing, at(-14))).toEqual(['unsettled', 'missing so far']);
    expect(classify({ on: 'service', rejection: 'x' }, at(-14))).toEqual(['unsettled', 'refused so far']);
    expect(classify(missing, String(came(-14) / 1000))).toEqual(['unsettled', 'missing so far']);
    expect(classify(missing, undefined)).toEqual(['missing', unknownAge]);
    expect(classify(missing, 'yesterday')).toEqual(['missing', unknownAge]);
  });

  test('whose time lies more than a day ahead says nothing about its age', () => {
    const missing = { on: 'service', rejection: undefined } as const;
    expect(classify(missing, at(23 * 60))).toEqual(['unsettled', 'missing so far']);
    expect(classify(missing, at(25 * 60))).toEqual(['missing', null]);
  });
});

test('a lead that a file lacks is after the file if it was created since, or was young when the file was written', () => {
  const missing = { on: 'service', rejection: undefined } as const;
  const inFileOf = (minutesAgo: number, created: number): string | undefined =>
    classifyLead(
      { id: 'a', createdAt: at(created), sides: missing },
      { ...times, writtenAt: came(-minutesAgo) },
    )?.class;
  for (const created of [-60, -59, -46, -16, -1, 23 * 60])
    expect(inFileOf(60, created - 0.5)).toBe('after-file');
  expect([inFileOf(60, -75), inFileOf(60, -74), inFileOf(60, 25 * 60)]).toEqual([
    'missing',
    'after-file',
    'missing',
  ]);
  expect([-5, -6, -14, -15, -20, -21].map((created) => inFileOf(6, created))).toEqual([
    ...['after-file', 'unsettled', 'unsettled', 'after-file', 'after-file', 'missing'],
  ]);
});

describe('a lead that the service does not list', () => {
  const extra = { on: 'inbox', isPruned: false } as const;

  test('is extra behind the horizon, and beyond it at or before', () => {
    expect(classify(extra, at(-60), came(-59), came(-61))).toEqual(['extra', null]);
    expect(classify(extra, at(-60), came(-59), came(-60))).toEqual(['beyond-horizon', null]);
    const listsNone = classifyLead(
      { id: 'a', createdAt: at(-60), receivedAt: came(-59), sides: extra },
      times,
      undefined,
    );
    expect(listsNone?.class).toBe('beyond-horizon');
  });

  test('without an age may have been created a day before it came', () => {
    const day = 24 * 60;
    expect(classify(extra, undefined, came(-60), came(-60 - day - 1))).toEqual(['extra', unknownAge]);
    expect(classify(extra, undefined, came(-60), came(-60 - day))).toEqual(['beyond-horizon', null]);
    expect(classify({ ...extra, isPruned: true }, undefined, came(-60))).toEqual([
      'extra',
      'when it was created is not known: its body was pruned',
    ]);
  });

  test('is not judged when it is young, or came during the audit', () => {
    const unsettled = ['unsettled', 'extra so far'];
    expect(classify(extra, at(-14), came(-13))).toEqual(unsettled);
    expect(classify(extra, undefined, came(-14))).toEqual(unsettled);
    expect(classify(extra, at(-60), came(0))).toEqual(unsettled);
    expect(classify(extra, at(-14), came(-13), came(0))).toEqual(unsettled);
  });
});

describe('a test lead', () => {
  const extra = { on: 'inbox', isPruned: false } as const;
  const ofTest = (id: string, sides: LeadFacts['sides'], minutes: number) =>
    classifyLead({ id, createdAt: at(minutes), receivedAt: came(minutes), sides }, times, came(-100))?.class;

  test('is known by its id where the service does not list it, however old it is', () => {
    for (const id of ['leads-send-k3f9x2ab-7', 'leads-check-k3f9x2-1']) {
      for (const minutes of [-200, -60, -1]) expect(ofTest(id, extra, minutes)).toBe('test');
    }
    expect(ofTest('leads-sent-1', extra, -60)).toBe('extra');
  });

  test('that can be pulled is a lead like others', () => {
    const id = 'leads-send-k3f9x2ab-7';
    expect(ofTest(id, { on: 'service', rejection: undefined }, -60)).toBe('missing');
    expect(ofTest(id, { on: 'service', rejection: 'x' }, -60)).toBe('refused');
    expect(ofTest(id, { ...same, differing: ['a'] }, -60)).toBe('different');
    expect(ofTest(id, { on: 'listed-outside' }, -60)).toBe('different');
  });
});

test("where the service's clock is ahead, what was received is dated by it, and said as it was received", () => {
  const ahead = 20 * minute;
  const theirs = {
    ...times,
    clockAheadMs: ahead,
    startedAt: now + ahead,
    settledBefore: times.settledBefore + ahead,
  };
  const lead = { id: 'a', createdAt: at(-40), receivedAt: came(-59) };
  expect(classifyLead({ ...lead, sides: same }, theirs)).toBeUndefined();
  expect(classifyLead({ ...lead, receivedAt: came(-54), sides: same }, theirs)).toMatchObject({
    class: 'late',
    receivedAt: at(-54),
  });
  const missing = { on: 'service', rejection: undefined } as const;
  expect(classifyLead({ id: 'a', createdAt: at(4), sides: missing }, theirs)?.class).toBe('missing');
  expect(classifyLead({ id: 'a', createdAt: at(6), sides: missing }, theirs)?.class).toBe('unsettled');
});
