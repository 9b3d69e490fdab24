import * as z from 'zod/mini';
import { schemeShape } from '../scheme-options.ts';
import { duration, flag, oneOf, text, url, wholeNumber } from '../values.ts';

export const options = z.object({
  ...schemeShape,
  format: oneOf(['pretty', 'events', 'leads']),
  port: z.optional(wholeNumber(0, 65_535)),
  host: z.optional(text()),
  path: z.optional(text().check(z.startsWith('/', 'must start with /'))),
  http: flag(),
  cert: z.optional(text()),
  key: z.optional(text()),
  forwardTo: z.optional(url()),
  forwardBestEffort: flag(),
  exec: z.optional(text()),
  output: z.optional(text()),
  inbox: z.optional(text()),
  backfill: z.optional(duration()),
  explain: flag(),
  showAnswer: flag(),
  count: z.optional(wholeNumber(1)),
  for: z.optional(duration()),
  respond: z.optional(wholeNumber(200, 599)),
  failFirst: z.optional(wholeNumber(1)),
  delay: z.optional(duration()),
});

export type ListenOptions = z.output<typeof options>;
