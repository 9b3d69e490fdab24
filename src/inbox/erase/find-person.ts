import { isTestId, leadBytes } from '../../lead/raw-lead.ts';
import type { InboxReader, StoredDelivery } from '../inbox.ts';
import { memberIds } from '../remaining-content.ts';
import { idsOfContact, isContactOf, type Person, readableIn } from './person.ts';

type SearchedInbox = Pick<InboxReader, 'list' | 'lookUp' | 'prunedSince'>;

/** `deliveries` is how many of the lead are still stored. */
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

/**
 * Finds a person, who is named by the id of a lead or by an e-mail address or phone number. For these, all leads of the inbox are read:
 * those with the value within their contact are the person's, and those with it elsewhere only mention it. Changes nothing.
 */
export async function findPerson(inbox: SearchedInbox, person: Person): Promise<FoundPerson> {
  const isReadable = isReadableIn(person);
  const ids = new Set<string>();
  const mentions = new Set<string>();
  if (person.by === 'id') ids.add(person.value);
  else await findContacts(inbox, person, { ids, mentions });
  const isOfPerson = (rejected: StoredDelivery): boolean =>
    namedIds(rejected).some((id) => ids.has(id)) || isReadable(rejected);
  const mentionedIn = [...mentions].filter((leadId) => !ids.has(leadId));
  return { ...(await findLeads(inbox, ids)), rejected: await findRejected(inbox, isOfPerson), mentionedIn };
}

/** Finds test leads as `findPerson` finds those of a person. */
export async function findTestLeads(inbox: SearchedInbox): Promise<FoundPerson> {
  const ids = new Set<string>();
  for await (const { leadId = '', verdict } of inbox.list({})) {
    if (verdict !== 'rejected' && isTestId(leadId)) ids.add(leadId);
  }
  for await (const leads of inbox.prunedSince(0)) {
    for (const { leadId } of leads) if (isTestId(leadId)) ids.add(leadId);
  }
  const rejected = await findRejected(inbox, (delivery) => namedIds(delivery).some(isTestId));
  return { ...(await findLeads(inbox, ids)), rejected, mentionedIn: [] };
}

/** Adds the ids of leads whose contact has the value, and of leads that mention it. */
async function findContacts(
  inbox: SearchedInbox,
  person: Person,
  { ids, mentions }: { readonly ids: Set<string>; readonly mentions: Set<string> },
): Promise<void> {
  const isReadable = isReadableIn(person);
  let lastShared: number | undefined;
  for await (const delivery of inbox.list({})) {
    const { leadId, verdict, body, place, firstSeq } = delivery;
    if (verdict === 'rejected' || leadId === undefined) continue;
    if (firstSeq !== undefined && firstSeq !== lastShared) {
      // A body of several leads may hold one whose own delivery was pruned.
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

/** The ids that a delivery names: its lead's, or all in a body whose lead is not known. */
const namedIds = ({ leadId, body }: StoredDelivery): readonly string[] =>
  leadId === undefined ? memberIds(body) : [leadId];

async function findRejected(
  inbox: SearchedInbox,
  isWanted: (rejected: StoredDelivery) => boolean,
): Promise<FoundPerson['rejected']> {
  const rejected: FoundPerson['rejected'][number][] = [];
  for await (const delivery of inbox.list({ verdicts: ['rejected', 'other'] })) {
    const { seq, receivedAt, reason } = delivery;
    if (isWanted(delivery)) rejected.push({ seq, receivedAt, reason });
  }
  return rejected.reverse();
}

const idsAtOnce = 1000;

async function findLeads(
  inbox: SearchedInbox,
  ids: ReadonlySet<string>,
): Promise<Pick<FoundPerson, 'leads' | 'wasErased'>> {
  const leads: FoundLead[] = [];
  let wasErased = false;
  for (let i = 0; i < ids.size; i += idsAtOnce) {
    const page = [...ids].slice(i, i + idsAtOnce);
    const received = await inbox.lookUp(page);
    for (const [n, leadId] of page.entries()) {
      const lead = received[n];
      if (lead === undefined) continue;
      const { receivedAt, isWaiting } = lead;
      if (lead.digest === undefined) wasErased = true;
      else leads.push({ leadId, deliveries: await countDeliveries(inbox, leadId), receivedAt, isWaiting });
    }
  }
  return { leads: leads.sort((a, b) => a.receivedAt - b.receivedAt), wasErased };
}

async function countDeliveries(inbox: SearchedInbox, leadId: string): Promise<number> {
  let count = 0;
  for await (const { verdict } of inbox.list({ leadId })) if (verdict !== 'rejected') count += 1;
  return count;
}

type DeliveryTexts = Pick<StoredDelivery, 'body'> &
  Partial<Pick<StoredDelivery, 'path' | 'headers' | 'detail'>>;

/** Whether the person is readable in the body, the path, a header or the reason of a rejection. */
function isReadableIn(person: Person): (texts: DeliveryTexts) => boolean {
  const isIn = readableIn(person);
  return ({ body, path = '', headers = [], detail = '' }) =>
    isIn(body) ||
    [path, detail, ...headers.map(([, value]) => value)].some((text) => isIn(Buffer.from(text)));
}
