/** Deeper objects stay JSON in one cell: nesting cannot exhaust the stack or add columns without limit. */
const maxDepth = 6;

/**
 * Walks the members of one JSON object (valid and compact) and visits each with its dotted path and its own JSON text:
 * numbers keep their digits. An object itself is visited, after its members, when `isWanted` says so.
 */
export function eachMember(
  json: string,
  visit: (path: string, raw: string) => void,
  isWanted: (path: string) => boolean = () => false,
): void {
  walk(json, 0, '', 1, visit, isWanted);
}

/** Returns the index after the object that begins at `start`. */
function walk(
  json: string,
  start: number,
  prefix: string,
  depth: number,
  visit: (path: string, raw: string) => void,
  isWanted: (path: string) => boolean,
): number {
  let at = start + 1;
  while (json[at] === '"') {
    const colon = endOfString(json, at);
    const path = prefix + readString(json.slice(at, colon));
    const value = colon + 1;
    const nested = json[value] === '{' && json[value + 1] !== '}' && depth < maxDepth;
    const end = nested ? walk(json, value, `${path}.`, depth + 1, visit, isWanted) : endOfValue(json, value);
    if (!nested || isWanted(path)) visit(path, json.slice(value, end));
    at = json[end] === ',' ? end + 1 : end;
  }
  return at + 1;
}

/** A JSON value as a cell: text without quotes, null as an empty cell, anything else as it is. */
export function cellText(raw: string): string {
  if (raw.startsWith('"')) return readString(raw);
  return raw === 'null' ? '' : raw;
}

function readString(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}

function endOfString(json: string, quote: number): number {
  for (let at = quote; ;) {
    at = json.indexOf('"', at + 1);
    let backslashes = 0;
    while (json[at - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start);
  const structural = /["{}[\],]/g;
  let depth = 0;
  for (let at = start; ;) {
    structural.lastIndex = at;
    const found = structural.exec(json);
    if (found === null) return json.length;
    const { index } = found;
    const [sign] = found;
    if (sign === '"') {
      at = endOfString(json, index);
      continue;
    }
    if (sign === '{' || sign === '[') depth += 1;
    else if (depth === 0) return index;
    else if (sign !== ',') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
    at = index + 1;
  }
}
