import { describe, expect, it } from 'vitest';
import { decideVerdict, type KnownLead, type Verdict } from '../../src/inbox/decide-verdict.ts';
import { arrivalOf, deliveryOf } from './support.ts';

const arrival = arrivalOf({ id: 'a' }, { delivery: deliveryOf('{"id":"a","n":2}', { receivedAt: 9 }) });

const known: KnownLead = { firstAt: 5, attempts: 1, firstBody: 'same' };

const newLead = { leadId: 'a', attempt: 1, firstAt: 9 };
const repeated = { leadId: 'a', attempt: 2, firstAt: 5 };

interface Row {
  readonly arrival: string;
  readonly lead?: KnownLead;
  readonly verdict: Verdict;
}

const rows: readonly Row[] = [
  { arrival: 'of a new id', verdict: { kind: 'accepted', ...newLead } },
  { arrival: 'of a known id', lead: known, verdict: { kind: 'duplicate', ...repeated } },
  {
    arrival: 'of an id that came often',
    lead: { ...known, attempts: 41 },
    verdict: { kind: 'duplicate', ...repeated, attempt: 42 },
  },
  {
    arrival: 'with another payload than the first',
    lead: { ...known, firstBody: Buffer.from('{"n":1,"id":"a","m":0}') },
    verdict: { kind: 'duplicate', ...repeated, differs: ['n', 'm'] },
  },
  {
    arrival: 'with the first payload in another spelling',
    lead: { ...known, firstBody: Buffer.from('{ "n": 2.0, "id": "\\u0061" }') },
    verdict: { kind: 'duplicate', ...repeated },
  },
  {
    arrival: 'with another payload than a first one that is not to be compared',
    lead: { ...known, firstBody: 'not compared' },
    verdict: { kind: 'duplicate', ...repeated, differs: ['*'] },
  },
];

describe('the verdict on an arrival', () => {
  for (const { arrival: what, lead, verdict } of rows) {
    it(`${what}: ${verdict.kind}`, () => {
      expect(decideVerdict(lead, arrival)).toEqual(verdict);
    });
  }
});
