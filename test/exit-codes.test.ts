import { expect, it } from 'vitest';
import {
  ConfigError,
  DataError,
  InterruptedError,
  KeyRejectedError,
  LeadNotFoundError,
  OutputError,
  ServiceError,
  UsageError,
} from '../src/errors.ts';
import { exitCodeOf, exitCodes } from '../src/exit-codes.ts';
import { IncompleteError } from '../src/service/listing-types.ts';
import { nothingNew } from '../src/service/pagers/pager.ts';

it.each([
  { end: { outcome: 'done' as const }, code: 0 },
  { end: { outcome: 'problems' as const }, code: 7 },
  { end: { thrown: new TypeError('x is not a function') }, code: 1 },
  { end: { thrown: 'no error' }, code: 1 },
  { end: { thrown: new UsageError('x') }, code: 2 },
  { end: { thrown: new ConfigError('x') }, code: 3 },
  { end: { thrown: new KeyRejectedError('x') }, code: 4 },
  { end: { thrown: new ServiceError('x') }, code: 5 },
  { end: { thrown: new DataError('x') }, code: 6 },
  { end: { thrown: new IncompleteError(nothingNew) }, code: 6 },
  { end: { thrown: new LeadNotFoundError('x') }, code: 7 },
  { end: { thrown: new OutputError('x') }, code: 8 },
  { end: { thrown: new InterruptedError('SIGINT') }, code: 130 },
  { end: { thrown: new InterruptedError('SIGPIPE') }, code: 141 },
  { end: { thrown: new InterruptedError('SIGTERM') }, code: 143 },
  { end: { thrown: new InterruptedError('SIGHUP') }, code: 143 },
])('a run ends with $code, which has a meaning', ({ end, code }) => {
  expect(exitCodeOf(end)).toBe(code);
  expect(exitCodes.map(([known]) => known)).toContain(code);
});
