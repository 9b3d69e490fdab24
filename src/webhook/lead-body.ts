import type { LeadText } from '../lead/text.ts';

/** Stands in until the reader of single records is there: same shape, no duplicate-key check, not the exact bytes. */
export function readLead(
  body: Uint8Array,
): { ok: true; lead: LeadText; warnings: readonly string[] } | { ok: false; detail: string } {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return { ok: false, detail: 'the body is not JSON' };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { ok: false, detail: 'the body is not a JSON object' };
  }
  const { id: given, createdAt, category } = json as Record<string, unknown>;
  const id = typeof given === 'string' || Number.isSafeInteger(given) ? String(given) : '';
  if (id === '') return { ok: false, detail: 'the lead has no usable id' };
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const lead = {
    bytes: Buffer.from(JSON.stringify(json)),
    id,
    createdAt: text(createdAt),
    category: text(category),
  };
  return { ok: true, lead, warnings: [] };
}
