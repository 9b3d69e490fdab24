import { describe, expect, it } from 'vitest';
import {
  decideVerdict,
  verdictOnceDone,
  type KnownLead,
  type Verdict,
} from '../../src/inbox/decide-verdict.ts';
import { arrivalOf, deliveryOf } from './support.ts';

const arrival = arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a","n":2}', { receivedAt: 9 }) });

const acceptedLead: KnownLead = {
  firstAt: 5,
  attempts: 1,
  accepted: true,
  firstBody: 'same',
  done: [],
  leasedElsewhere: [],
  tries: new Map([['v', 3]]),
};
const pendingLead: KnownLead = { ...acceptedLead, accepted: false };

const untried = (name: string) => ({ name, tries: 0 });

const newLead = { leadId: 'a', attempt: 1, firstAt: 9 };
const repeated = { leadId: 'a', attempt: 2, firstAt: 5 };

interface Row {
  readonly arrival: string;
  readonly lead?: KnownLead;
  readonly wanted?: readonly string[];
  readonly verdict: Verdict;
}

const rows: readonly Row[] = [
  { arrival: 'of a new id, without targets', verdict: { kind: 'accepted', ...newLead } },
  {
    arrival: 'of a new id, with targets',
    wanted: ['t', 'u'],
    verdict: { kind: 'pending', ...newLead, targets: [untried('t'), untried('u')], busy: false },
  },
  {
    arrival: 'of an accepted id',
    lead: acceptedLead,
    verdict: { kind: 'duplicate', ...repeated },
  },
  {
    arrival: 'of an accepted id whose targets have all had it',
    lead: { ...acceptedLead, done: ['u', 't'] },
    wanted: ['t', 'u'],
    verdict: { kind: 'duplicate', ...repeated },
  },
  {
    arrival: 'of an accepted id that a new target has not had',
    lead: { ...acceptedLead, done: ['t'] },
    wanted: ['t', 'u'],
    verdict: { kind: 'pending', ...repeated, targets: [untried('u')], busy: false },
  },
  {
    arrival: 'of a pending id that some targets have not had',
    lead: { ...pendingLead, done: ['u'] },
    wanted: ['t', 'u', 'v'],
    verdict: { kind: 'pending', ...repeated, targets: [untried('t'), { name: 'v', tries: 3 }], busy: false },
  },
  {
    arrival: 'of a pending id that another receiver hands on to one of its targets: the others are leased',
    lead: { ...pendingLead, leasedElsewhere: ['t'] },
    wanted: ['t', 'v'],
    verdict: { kind: 'pending', ...repeated, targets: [{ name: 'v', tries: 3 }], busy: false },
  },
  {
    arrival: 'of a pending id that another receiver hands on: nothing is leased',
    lead: { ...pendingLead, leasedElsewhere: ['v'] },
    wanted: ['v'],
    verdict: { kind: 'pending', ...repeated, targets: [], busy: true },
  },
  {
    arrival: 'of a pending id, leased elsewhere for a target that has had it',
    lead: { ...pendingLead, done: ['t'], leasedElsewhere: ['t'] },
    wanted: ['t'],
    verdict: { kind: 'accepted', ...repeated },
  },
  {
    arrival: 'of an id that an earlier run left pending for targets that are not wanted now',
    lead: pendingLead,
    verdict: { kind: 'accepted', ...repeated },
  },
  {
    arrival: 'of an id that came often',
    lead: { ...acceptedLead, attempts: 41 },
    verdict: { kind: 'duplicate', ...repeated, attempt: 42 },
  },
  {
    arrival: 'with another payload than the first',
    lead: { ...acceptedLead, firstBody: Buffer.from('{"n":1,"id":"a","m":0}') },
    verdict: { kind: 'duplicate', ...repeated, differs: ['n', 'm'] },
  },
  {
    arrival: 'with the first payload in another spelling',
    lead: { ...acceptedLead, firstBody: Buffer.from('{ "n": 2.0, "id": "\\u0061" }') },
    verdict: { kind: 'duplicate', ...repeated },
  },
  {
    arrival: 'with another payload than a first one that is not to be compared',
    lead: { ...pendingLead, firstBody: 'not compared' },
    wanted: ['t'],
    verdict: { kind: 'pending', ...repeated, differs: ['*'], targets: [untried('t')], busy: false },
  },
];

describe('the verdict on an arrival', () => {
  for (const { arrival: what, lead, wanted = [], verdict } of rows) {
    it(`${what}: ${verdict.kind}`, () => {
      expect(decideVerdict(lead, arrival, wanted)).toEqual(verdict);
    });
  }
});

describe('the verdict on a stored delivery, once a target has had its lead', () => {
  it.each([
    { left: 'another target', before: 'pending', undone: ['u'], accepted: false, verdict: 'pending' },
    { left: 'another target', before: 'accepted', undone: ['u'], accepted: true, verdict: 'pending' },
    { left: 'nothing', before: 'pending', undone: [], accepted: false, verdict: 'accepted' },
    { left: 'nothing', before: 'accepted', undone: [], accepted: true, verdict: 'duplicate' },
  ])('$left is left, the lead was $before: $verdict', ({ undone, accepted, verdict }) => {
    expect(verdictOnceDone(undone, { accepted })).toBe(verdict);
  });
});
