import { ConfigError } from '../../errors.ts';
import { type IdField, idFieldNamed } from '../../lead/read-leads.ts';

/** Which field is the id of a lead. Throws a `ConfigError` for what names none. */
export function idFieldOption(name: unknown = 'id'): IdField {
  if (typeof name === 'string' && name !== '') return idFieldNamed(name, 'idField');
  throw new ConfigError('idField is not the name of a field', { hint: "such as 'uuid'" });
}
