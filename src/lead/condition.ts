/** One `--where PATH=VALUE`, `PATH!=VALUE` or `PATH~VALUE`. */
export interface Condition {
  readonly path: readonly string[];
  readonly operator: '=' | '!=' | '~';
  readonly value: string;
}

/** `metadata.source=facebook`, `contact.email~@example.com`: undefined when no operator or no path stands there. */
export function parseCondition(text: string): Condition | undefined {
  const found = /^([^=!~]+)(!=|=|~)([^]*)$/.exec(text);
  if (found === null) return undefined;
  const [, path = '', operator = '=', value = ''] = found;
  return { path: path.trim().split('.'), operator: operator as Condition['operator'], value };
}
