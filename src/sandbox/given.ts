import { parseIso } from '../config/instant.ts';
import type { SandboxLead } from './lead-set.ts';

export type Given = Omit<SandboxLead, 'seq'>;

/** A lead from outside in its own bytes, or one sentence on why it is none. */
export function readGiven(bytes: Uint8Array, statusField: string, now: number): Given | { problem: string } {
  let record: unknown;
  try {
    record = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { problem: 'it is not JSON' };
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return { problem: 'a lead is a JSON object' };
  }
  const { id, category, createdAt, [statusField]: status } = record as Record<string, unknown>;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) {
    return { problem: "a lead needs an 'id' that is a string or an integer" };
  }
  const created = typeof createdAt === 'string' ? parseIso(createdAt) : undefined;
  return {
    id: String(id),
    category: typeof category === 'string' ? category : undefined,
    createdAt: created ?? now,
    status: typeof status === 'string' ? status : 'new',
    ...(typeof status === 'string' && { ownStatus: true }),
    text: () => bytes,
  };
}
