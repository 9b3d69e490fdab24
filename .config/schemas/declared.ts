// The JSON that commands print and that files hold, as schemas: of one line, or of one element, where there are several. A change by which whoever reads
// it must change too is a step of `version`.
import type * as z from 'zod';
import { baselineSchema } from '../../src/check/baseline.ts';
import { auditSchema } from '../../src/commands/audit/output-schema.ts';
import { checkSchema } from '../../src/commands/check/output-schema.ts';
import { configListSchema, configProfilesSchema } from '../../src/commands/config/output-schema.ts';
import { doctorSchema } from '../../src/commands/doctor/output-schema.ts';
import { bookmarkSchema } from '../../src/commands/export/bookmark.ts';
import { checkpointSchema } from '../../src/commands/export/checkpoint.ts';
import { helpSchema } from '../../src/commands/help/output-schema.ts';
import {
  inboxEraseSchema,
  inboxListSchema,
  inboxRetrySchema,
  inboxShowSchema,
} from '../../src/commands/inbox/output-schema.ts';
import { listenSchema } from '../../src/commands/listen/output-schema.ts';
import { sandboxSchema } from '../../src/commands/sandbox/output-schema.ts';
import { sendSchema } from '../../src/commands/send/output-schema.ts';
import { statsSchema } from '../../src/commands/stats/output-schema.ts';
import { verifySchema } from '../../src/commands/verify/output-schema.ts';
import { checkpointSchema as clientCheckpointSchema } from '../../src/library/client/lead-checkpoint.ts';
import { configVersion } from '../../src/config/check-config.ts';
import { errorSchema, versionSchema } from '../../src/output/everywhere-schema.ts';
import { configSchema, schemeSchema } from './settings.ts';

interface Declared {
  readonly version: number;
  readonly schema: z.core.$ZodType;
}

export const declared: Readonly<Record<string, Declared>> = {
  error: { version: 1, schema: errorSchema },
  version: { version: 1, schema: versionSchema },
  audit: { version: 1, schema: auditSchema },
  check: { version: 1, schema: checkSchema },
  'config.list': { version: 1, schema: configListSchema },
  'config.profiles': { version: 1, schema: configProfilesSchema },
  doctor: { version: 1, schema: doctorSchema },
  help: { version: 1, schema: helpSchema },
  'inbox.erase': { version: 1, schema: inboxEraseSchema },
  'inbox.list': { version: 1, schema: inboxListSchema },
  'inbox.retry': { version: 1, schema: inboxRetrySchema },
  'inbox.show': { version: 1, schema: inboxShowSchema },
  listen: { version: 1, schema: listenSchema },
  sandbox: { version: 1, schema: sandboxSchema },
  send: { version: 1, schema: sendSchema },
  stats: { version: 1, schema: statsSchema },
  verify: { version: 1, schema: verifySchema },
  'file.baseline': { version: 1, schema: baselineSchema },
  'file.bookmark': { version: 2, schema: bookmarkSchema },
  'file.checkpoint': { version: 1, schema: checkpointSchema },
  'file.client-checkpoint': { version: 1, schema: clientCheckpointSchema },
  'file.config': { version: configVersion, schema: configSchema },
  'file.scheme': { version: 1, schema: schemeSchema },
};
