import type { StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { utf8 } from '../../json/bytes.ts';
import { isObject, type Json, parseExact } from '../../json/exact.ts';
import type { RawLead } from '../../lead/raw-lead.ts';

/** The lead of a delivery as a value, and as filters look at it. */
export interface ReceivedLead {
  readonly record: Json;
  readonly raw: RawLead;
}

/** Undefined where the body is not JSON, as that of a rejected delivery may be. */
export function receivedLead({ body, place, leadId }: StoredDelivery): ReceivedLead | undefined {
  // A byte order mark is accepted, and is no JSON.
  const json = utf8(leadBytes(body, place)).replace(/^\ufeff/, '');
  const record = parsed(json);
  if (record === undefined) return undefined;
  const text = (name: string): string | undefined => {
    const value = isObject(record) ? record[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const raw = {
    id: leadId,
    createdAt: text('createdAt'),
    category: text('category'),
    get bytes() {
      return Buffer.from(json);
    },
  };
  return { record, raw };
}

function parsed(json: string): Json | undefined {
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}
