// The JSON that commands print and that files hold, as schemas: of a line where there are several. A change by which whoever reads
// it must change too is a step of `version`.
import type * as z from 'zod';
import { checkSchema } from '../../src/commands/check/output-schema.ts';
import { doctorSchema } from '../../src/commands/doctor/output-schema.ts';
import { bookmarkSchema } from '../../src/commands/export/bookmark.ts';
import { checkpointSchema } from '../../src/commands/export/checkpoint.ts';
import { stateSchema } from '../../src/commands/statement/signing.ts';
import { statsSchema } from '../../src/commands/stats/output-schema.ts';
import { verifySchema } from '../../src/commands/verify/output-schema.ts';
import { checkpointSchema as clientCheckpointSchema } from '../../src/library/client/lead-checkpoint.ts';
import { errorSchema, versionSchema } from '../../src/output/everywhere-schema.ts';
import { headerSchema, lineSchema } from '../../src/statement/statement-format.ts';

interface Declared {
  readonly version: number;
  readonly schema: z.core.$ZodType;
}

export const declared: Readonly<Record<string, Declared>> = {
  error: { version: 1, schema: errorSchema },
  version: { version: 1, schema: versionSchema },
  check: { version: 1, schema: checkSchema },
  doctor: { version: 1, schema: doctorSchema },
  stats: { version: 1, schema: statsSchema },
  verify: { version: 1, schema: verifySchema },
  'file.bookmark': { version: 2, schema: bookmarkSchema },
  'file.checkpoint': { version: 1, schema: checkpointSchema },
  'file.client-checkpoint': { version: 1, schema: clientCheckpointSchema },
  'file.statement-header': { version: 1, schema: headerSchema },
  'file.statement-line': { version: 1, schema: lineSchema },
  'file.statement-signed': { version: 1, schema: stateSchema },
};
