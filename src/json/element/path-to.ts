import { openBrace } from '../bytes.ts';
import { elementsAt, membersAt, type Span } from './members.ts';

/**
 * The reference tokens of a JSON Pointer (RFC 6901) to the value that begins at `start`, from the one at `root` on; undefined
 * where none begins there. The scanner must hold this text, as for `membersAt`.
 */
export function pathTo(json: Buffer, root: number, start: number): readonly string[] | undefined {
  const path: string[] = [];
  for (let at = root; at !== start;) {
    const child = childrenAt(json, at).find((one) => one.start <= start && start < one.end);
    if (child === undefined) return undefined;
    path.push(child.name);
    at = child.start;
  }
  return path;
}

const childrenAt = (json: Buffer, at: number): readonly (Span & { readonly name: string })[] =>
  json[at] === openBrace
    ? membersAt(json, at)
    : elementsAt(json, at).map((span, i) => ({ ...span, name: String(i) }));
