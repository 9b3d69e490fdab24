import type { Lead, LeadFields } from './lead.ts';

/** What any library of the Standard Schema specification (https://standardschema.dev) makes: zod, valibot, arktype. */
export interface LeadSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
  };
}

type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly LeadIssue[] };

/** Why a lead does not fit a schema. */
export interface LeadIssue {
  readonly message: string;
  /** Where, from the lead on; a library may give objects with a `key` for names. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A lead as a schema reads it, or as it came beside its issues: one that does not fit is handed over too. Without a schema
 * (`Output` is never) it is the lead alone.
 */
export type Fitted<L extends { readonly value: LeadFields }, Output> = [Output] extends [never]
  ? L
  : | (Omit<L, 'value'> & { readonly value: Output; readonly issues?: undefined })
    | (L & { readonly issues: readonly LeadIssue[] });

/**
 * Gives leads the schema's output as their `value`, or their issues. Rejects with what the schema throws. Throws a `TypeError`
 * for what is no schema.
 */
export function fitterOf(schema: LeadSchema): (leads: readonly Pick<Lead, 'value'>[]) => Promise<void> {
  const standard = (schema as Partial<LeadSchema> | null)?.['~standard'];
  if (typeof standard?.validate !== 'function')
    throw new TypeError("schema has no ['~standard'].validate: no Standard Schema");
  return async (leads) => {
    for (const lead of leads) {
      const result = await standard.validate(lead.value);
      const own = result.issues === undefined ? { value: result.value } : { issues: result.issues };
      for (const [name, value] of Object.entries(own))
        Object.defineProperty(lead, name, { value, enumerable: true });
    }
  };
}
