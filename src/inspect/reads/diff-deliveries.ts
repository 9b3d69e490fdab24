import type { StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../inbox/lead-bytes.ts';
import { payloadDiff } from '../../inbox/payload-diff.ts';
import { utf8 } from '../../json/bytes.ts';
import { readDocument } from '../../json/read-document.ts';
import type { WireDiff } from '../wire.ts';
import { compareLines, mostLines } from './compare-lines.ts';
import { formatJson } from './format-json.ts';

/** What differs between two deliveries. */
export function diffDeliveries(left: StoredDelivery, right: StoredDelivery): WireDiff {
  const bodies = [left, right].map(bodyLines);
  const [one = [], other = []] = bodies;
  return {
    fields: differingFields(left, right),
    headers: compareLines(headerLines(left), headerLines(right)),
    body: compareLines(one.slice(0, mostLines), other.slice(0, mostLines)),
    isCut: bodies.some((lines) => lines.length > mostLines),
  };
}

/** None where a body is no JSON: the lines show what differs. */
function differingFields(left: StoredDelivery, right: StoredDelivery): readonly string[] {
  const [one, other] = [leadBytes(left.body, left.place), leadBytes(right.body, right.place)];
  if (!readDocument(one).ok || !readDocument(other).ok) return [];
  // Two bodies of which one is no object differ as a whole, which has no name.
  return payloadDiff(one, other).filter((name) => name !== '');
}

/** In the order of names: proxies change the order of headers, and it means nothing. */
const headerLines = ({ headers }: StoredDelivery): readonly string[] =>
  headers
    .slice(0, mostLines)
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .sort();

function bodyLines({ body, place }: StoredDelivery): readonly string[] {
  const lead = leadBytes(body, place);
  return (formatJson(lead) ?? utf8(lead)).split('\n', mostLines + 1);
}
