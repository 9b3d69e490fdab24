/** Levels below the lead itself. */
const deepest = 3;

/** Dotted paths of the values in a lead, those of objects aside; names that hold a dot have none. */
export function fieldPathsOf(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name.includes('.')) return [];
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
    if (!isObject) return [name];
    return depth < deepest ? fieldPathsOf(member, depth + 1).map((path) => `${name}.${path}`) : [];
  });
}
