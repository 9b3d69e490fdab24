/** One `--where PATH=VALUE`, `PATH!=VALUE` or `PATH~VALUE`. */
export interface Condition {
  readonly path: readonly string[];
  readonly operator: '=' | '!=' | '~';
  readonly value: string;
}

/** Parses `metadata.source=facebook` or `contact.email~@example.com`; undefined without a path or an operator. */
export function parseCondition(text: string): Condition | undefined {
  const found = /^([^=!~]+)(!=|=|~)([^]*)$/.exec(text);
  if (found === null) return undefined;
  const [, path = '', operator = '=', value = ''] = found;
  return { path: path.trim().split('.'), operator: operator as Condition['operator'], value };
}
