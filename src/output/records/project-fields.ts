import { FieldPaths } from './field-paths.ts';
import { eachMember } from './json-members.ts';

interface Branch {
  readonly path: string;
  readonly children: Map<string, Branch>;
}

/** What one record has of the fields: the text of each that was asked for, and which paths above one are arrays. */
interface Found {
  readonly values: ReadonlyMap<string, string>;
  readonly arrays: ReadonlySet<string>;
}

/**
 * Reduces a record to some dotted paths, in their order and in the record's own shape: values keep their own text, and
 * a path that the record does not have is left out. An element of an array keeps its index: those before it that were
 * not asked for are null.
 */
export function projectFields(fields: readonly string[]): (json: string) => string {
  const root: Branch = { path: '', children: new Map() };
  for (const field of fields) addPath(root, field.split('.'));
  const asked = new FieldPaths([...fields, ...arrayPaths(fields)]);
  const wanted = new Set(fields);
  return (json) => {
    const values = new Map<string, string>();
    const arrays = new Set<string>();
    eachMember(
      json,
      (path, raw) => {
        if (wanted.has(path)) values.set(path, raw);
        else if (raw.startsWith('[')) arrays.add(path);
      },
      asked,
    );
    return render(root, { values, arrays }) ?? '{}';
  };
}

/** The paths before each index: of `tags.0` it is `tags`. */
const arrayPaths = (fields: readonly string[]): string[] =>
  fields.flatMap((field) => [...field.matchAll(/\.\d+(?=\.|$)/g)].map(({ index }) => field.slice(0, index)));

function addPath(branch: Branch, [name, ...rest]: readonly string[]): void {
  if (name === undefined) return;
  const path = branch.path === '' ? name : `${branch.path}.${name}`;
  const child = branch.children.get(name) ?? { path, children: new Map<string, Branch>() };
  branch.children.set(name, child);
  addPath(child, rest);
}

function render({ path, children }: Branch, found: Found): string | undefined {
  const whole = found.values.get(path);
  if (whole !== undefined || children.size === 0) return whole;
  const members = [...children].flatMap(([name, child]) => {
    const value = render(child, found);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (members.length === 0) return undefined;
  if (!found.arrays.has(path)) {
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
  }
  const elements: (string | undefined)[] = [];
  for (const [index, value] of members) elements[Number(index)] = value;
  return `[${Array.from(elements, (element) => element ?? 'null').join(',')}]`;
}
