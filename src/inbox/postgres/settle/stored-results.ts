import * as z from 'zod/mini';

const schema = z.array(z.tuple([z.string(), z.boolean(), z.string(), z.number(), z.number()]));

/** As JSON in the column `results`: label of the target, whether it took the lead, its answer, when, and how long it took. */
export type StoredResultFields = readonly [
  label: string,
  ok: boolean,
  answer: string,
  at: number,
  durationMs: number,
];

/** Empty where nothing was stored. */
export const resultsIn = (json: string): readonly StoredResultFields[] =>
  json === '' ? [] : z.parse(schema, JSON.parse(json));
