import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { payloadDiff } from '../../inbox/payload-diff.ts';
import { utf8 } from '../../json/bytes.ts';
import { readDocument } from '../../json/scanner.ts';
import type { WireDiff, WireDiffLine } from '../wire.ts';
import { rowOf } from './delivery-row.ts';
import { formatJson } from './format-json.ts';

/** What differs between two deliveries. */
export async function diffDeliveries(
  inbox: Pick<InboxReader, 'lackingTargets'>,
  left: StoredDelivery,
  right: StoredDelivery,
): Promise<WireDiff> {
  const bodies = [left, right].map(bodyLines);
  const [one = [], other = []] = bodies;
  return {
    rows: [await rowOf(inbox, left), await rowOf(inbox, right)],
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

/** Lines of each side that are compared: the work grows with the product of both. */
const mostLines = 2000;

/** Of a line that is shown, in characters. */
const longestLine = 4096;

/** Lines side by side, as few as possible of them different. At most `mostLines` on each side. */
function compareLines(left: readonly string[], right: readonly string[]): readonly WireDiffLine[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): WireDiffLine[] => lines.map((line) => pair('same', line, line));
  return [
    ...same(left.slice(0, start)),
    ...betweenEnds(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...same(left.slice(left.length - end)),
  ];
}

/** By a longest common subsequence. */
function betweenEnds(left: readonly string[], right: readonly string[]): WireDiffLine[] {
  const width = right.length + 1;
  // Lengths of the longest common subsequence of what is left of both sides, behind each pair of positions.
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const isSame = left[i] === right[j];
      lengths[i * width + j] = isSame ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: WireDiffLine[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    for (let n = 0; n < Math.max(removed.length, added.length); n += 1) {
      const [one = null, other = null] = [removed[n], added[n]];
      const kind = one === null ? 'right' : other === null ? 'left' : 'changed';
      lines.push(pair(kind, one, other));
    }
    removed = [];
    added = [];
  };
  for (let i = 0, j = 0; i < left.length || j < right.length;) {
    const [one, other] = [left[i], right[j]];
    if (one !== undefined && one === other) {
      flush();
      lines.push(pair('same', one, one));
      i += 1;
      j += 1;
    } else if (other === undefined || (one !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      removed.push(one ?? '');
      i += 1;
    } else {
      added.push(other);
      j += 1;
    }
  }
  flush();
  return lines;
}

const pair = (kind: WireDiffLine['kind'], left: string | null, right: string | null): WireDiffLine => ({
  kind,
  left: shown(left),
  right: shown(right),
});

const shown = (line: string | null): string | null =>
  line === null || line.length <= longestLine ? line : `${line.slice(0, longestLine)}…`;
