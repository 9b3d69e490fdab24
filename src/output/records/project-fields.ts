import { eachMember } from './json-members.ts';

interface Branch {
  readonly path: string;
  readonly children: Map<string, Branch>;
}

/**
 * Reduces a record to some dotted paths, in their order and in the record's own shape: values keep their own text, and
 * a path that the record does not have is left out.
 */
export function projectFields(fields: readonly string[]): (json: string) => string {
  const wanted = new Set(fields);
  const root: Branch = { path: '', children: new Map() };
  for (const field of fields) addPath(root, field.split('.'));
  return (json) => {
    const found = new Map<string, string>();
    eachMember(
      json,
      (path, raw) => {
        if (wanted.has(path)) found.set(path, raw);
      },
      (path) => wanted.has(path),
    );
    return render(root, found) ?? '{}';
  };
}

function addPath(branch: Branch, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return;
  const path = branch.path === '' ? name : `${branch.path}.${name}`;
  const child = branch.children.get(name) ?? { path, children: new Map<string, Branch>() };
  branch.children.set(name, child);
  addPath(child, rest);
}

function render({ path, children }: Branch, found: ReadonlyMap<string, string>): string | undefined {
  const whole = found.get(path);
  if (whole !== undefined || children.size === 0) return whole;
  const members: string[] = [];
  for (const [name, child] of children) {
    const value = render(child, found);
    if (value !== undefined) members.push(`${JSON.stringify(name)}:${value}`);
  }
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}
