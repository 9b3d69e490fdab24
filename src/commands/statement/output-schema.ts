import * as z from 'zod/mini';

const counts = z.object({
  both: z.int(),
  onlyHere: z.int(),
  onlyThere: z.int(),
  /** In the period here, and at its border there. */
  otherPeriodThere: z.int(),
  otherPeriodHere: z.int(),
  /** On both sides, with another field that both say. */
  otherFields: z.int(),
});

/** What `statement compare --json` prints: leads, and up to 100,000 differences. */
export const statementCompareSchema = z.extend(counts, {
  differences: z.array(
    z.object({
      difference: z.enum([
        'only here',
        'only there',
        'other period there',
        'other period here',
        'other category',
      ]),
      digest: z.string(),
    }),
  ),
});

/** The hashes that lead from a line to the root. */
const place = { index: z.int(), line: z.string(), path: z.array(z.string()) };
const whole = { lines: z.int(), root: z.string() };

/** What `statement verify --lead` prints: where the lead is, or between which lines it is not. */
export const statementVerifySchema = z.union([
  z.object({ ...place, ...whole }),
  z.object({ absent: z.string(), between: z.array(z.object(place)), ...whole }),
]);

export type ComparisonDocument = z.output<typeof statementCompareSchema>;
export type LeadProof = z.output<typeof statementVerifySchema>;
