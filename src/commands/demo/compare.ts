export interface Comparison {
  readonly pulled: number;
  readonly pushed: number;
  /** One sentence for each difference. */
  readonly differences: readonly string[];
}

/** Leads as the list operation gave them against leads as webhooks brought them: byte for byte beside the status. */
export function compare(pulled: string, pushed: string): Comparison {
  const ours = byId(pulled);
  const theirs = byId(pushed);
  const differences: string[] = [];
  for (const [id, line] of ours) {
    const other = theirs.get(id);
    if (other === undefined) differences.push(`${id} can be pulled and was not pushed`);
    else if (withoutStatus(line) !== other) differences.push(`${id} differs`);
  }
  for (const id of theirs.keys()) {
    if (!ours.has(id)) differences.push(`${id} was pushed and cannot be pulled`);
  }
  const lines = (text: string): number => text.split('\n').length - 1;
  if (lines(pulled) !== ours.size || lines(pushed) !== theirs.size) differences.push('an id is there twice');
  return { pulled: ours.size, pushed: theirs.size, differences };
}

function byId(ndjson: string): Map<string, string> {
  const lines = ndjson.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]));
}

/** The sandbox puts the status last; a webhook carries none. */
const withoutStatus = (line: string): string => line.replace(/,"status":"\w+"\}$/, '}');
