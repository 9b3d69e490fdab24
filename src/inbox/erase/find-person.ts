import { isTestId, leadBytes } from '../../lead/raw-lead.ts';
import type { InboxReader, StoredDelivery } from '../inbox.ts';
import { memberIds } from '../remaining-content.ts';
import { idsOfContact, isContactOf, type Person, readableIn } from './person.ts';

interface FoundLead {
  readonly leadId: string;
  readonly deliveries: number;
  readonly receivedAt: number;
  readonly isWaiting: boolean;
}

/**
 * Everything that an inbox holds of a person: leads and rejected deliveries, oldest first; the ids of other leads in which the e-mail
 * address or phone number stands outside of the contact, so that they may be of another person; and whether a lead was erased before.
 */
export interface FoundPerson {
  readonly leads: readonly FoundLead[];
  readonly rejected: readonly Pick<StoredDelivery, 'seq' | 'receivedAt' | 'reason'>[];
  readonly mentionedIn: readonly string[];
  readonly wasErased: boolean;
}

const batch = 1000;

/** Reads the whole inbox, unless the person is named by an id; changes nothing. */
export async function findPerson(
  inbox: Pick<InboxReader, 'list' | 'lookUp'>,
  person: Person,
): Promise<FoundPerson> {
  const mentions = new Set<string>();
  const ids = new Set<string>();
  const isReadable = readable(readableIn(person));
  if (person.by === 'id') ids.add(person.value);
  else {
    let lastShared: number | undefined;
    for await (const delivery of inbox.list({})) {
      const { leadId, verdict, body, place, firstSeq } = delivery;
      if (verdict === 'rejected' || leadId === undefined) continue;
      if (firstSeq !== undefined && firstSeq !== lastShared) {
        for (const id of idsOfContact(body, person)) ids.add(id);
        lastShared = firstSeq;
      }
      if (ids.has(leadId)) continue;
      const lead = leadBytes(body, place);
      if (isContactOf(lead, person)) ids.add(leadId);
      // Path and headers of several leads belong to none of them alone.
      else if (isReadable(firstSeq === undefined ? { ...delivery, body: lead } : { body: lead })) {
        mentions.add(leadId);
      }
    }
  }
  const isOfPerson = (delivery: StoredDelivery): boolean =>
    hasId(delivery, (id) => ids.has(id)) || isReadable(delivery);
  const mentionedIn = [...mentions].filter((leadId) => !ids.has(leadId));
  return { ...(await leadsOf(inbox, ids, isOfPerson)), mentionedIn };
}

/** Finds test leads as `findPerson` finds those of a person. */
export async function findTestLeads(
  inbox: Pick<InboxReader, 'list' | 'lookUp' | 'prunedSince'>,
): Promise<FoundPerson> {
  const ids = new Set<string>();
  for await (const { leadId = '', verdict } of inbox.list({})) {
    if (verdict !== 'rejected' && isTestId(leadId)) ids.add(leadId);
  }
  for await (const leads of inbox.prunedSince(0)) {
    for (const { leadId } of leads) if (isTestId(leadId)) ids.add(leadId);
  }
  return { ...(await leadsOf(inbox, ids, (delivery) => hasId(delivery, isTestId))), mentionedIn: [] };
}

const hasId = ({ leadId, body }: StoredDelivery, is: (id: string) => boolean): boolean =>
  (leadId === undefined ? memberIds(body) : [leadId]).some(is);

/** The leads of those ids, and the deliveries that were not taken and are wanted. */
async function leadsOf(
  inbox: Pick<InboxReader, 'list' | 'lookUp'>,
  ids: ReadonlySet<string>,
  isWanted: (rejected: StoredDelivery) => boolean,
): Promise<Omit<FoundPerson, 'mentionedIn'>> {
  const counts = new Map<string, { deliveries: number; receivedAt: number }>();
  const rejected: FoundPerson['rejected'][number][] = [];
  for await (const delivery of inbox.list({ verdicts: ['rejected', 'other'] })) {
    const { seq, receivedAt, reason } = delivery;
    if (isWanted(delivery)) rejected.push({ seq, receivedAt, reason });
  }
  for (const leadId of ids) {
    for await (const { verdict, receivedAt } of inbox.list({ leadId })) {
      if (verdict === 'rejected') continue;
      counts.set(leadId, { deliveries: (counts.get(leadId)?.deliveries ?? 0) + 1, receivedAt });
    }
  }
  const leads: FoundLead[] = [];
  let wasErased = false;
  for (let i = 0; i < ids.size; i += batch) {
    const some = [...ids].slice(i, i + batch);
    const received = await inbox.lookUp(some);
    for (const [n, leadId] of some.entries()) {
      const lead = received[n];
      if (lead === undefined) continue;
      const { receivedAt, isWaiting } = lead;
      if (lead.digest === undefined) wasErased = true;
      else leads.push({ leadId, deliveries: counts.get(leadId)?.deliveries ?? 0, receivedAt, isWaiting });
    }
  }
  return {
    leads: leads.sort((a, b) => a.receivedAt - b.receivedAt),
    rejected: rejected.reverse(),
    wasErased,
  };
}

type Texts = Pick<StoredDelivery, 'body'> & Partial<Pick<StoredDelivery, 'path' | 'headers' | 'detail'>>;

/** In the body, the path, a header or the reason of a rejection. */
const readable =
  (isIn: (bytes: Uint8Array) => boolean) =>
  ({ body, path = '', headers = [], detail = '' }: Texts): boolean =>
    isIn(body) ||
    [path, detail, ...headers.map(([, value]) => value)].some((text) => isIn(Buffer.from(text)));
