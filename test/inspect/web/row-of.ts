import type { WireRow } from '../../../src/inspect/wire.ts';

/** An accepted delivery; `more`: what is different. */
export const rowOf = (seq: number, more: Partial<WireRow> = {}): WireRow => ({
  seq,
  receivedAt: seq * 1_000,
  leadId: `lead_${seq}`,
  name: null,
  category: null,
  verdict: 'accepted',
  reason: null,
  status: 200,
  attempt: 1,
  source: 'push',
  size: 10,
  done: 0,
  waiting: 0,
  dead: 0,
  ...more,
});

export const rowsOf = (...seqs: number[]): WireRow[] => seqs.map((seq) => rowOf(seq));
