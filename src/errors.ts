/**
 * What was found, as data: its kind and its facts, which can be cloned and hold no secret. A front makes the sentence and
 * the hint of it, from the catalogue in src/messages/.
 */
export interface Problem {
  readonly kind: string;
  readonly [fact: string]: unknown;
}

export interface ErrorDetails {
  /** What the user can do about it, one sentence; only beside a sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** HTTP status of the answer that caused it. */
  readonly status?: number | undefined;
  /** The service's name for the request, for its support. */
  readonly requestId?: string | undefined;
}

/**
 * An expected failure, whose code says of which class: a sentence and a hint, where a front throws it, else a problem, whose kind is
 * then the message. Anything else that is thrown is a bug.
 */
export abstract class LeadsError extends Error {
  /** Stable, machine-readable name in JSON errors. */
  abstract readonly code: string;
  /** @internal */
  declare readonly problem: Problem | undefined;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(found: Problem | string, details: ErrorDetails = {}) {
    const cause = details.cause === undefined ? undefined : { cause: details.cause };
    super(typeof found === 'string' ? found : found.kind, cause);
    // Not enumerable: an application that prints the error's members gets texts, not what they were made of.
    const problem = typeof found === 'string' ? undefined : found;
    Object.defineProperty(this, 'problem', { value: problem });
    this.name = new.target.name;
    this.hint = details.hint;
    this.status = details.status;
    this.requestId = details.requestId;
  }
}

/** Unknown command, flag or value. */
export class UsageError extends LeadsError {
  readonly code = 'usage';
}

/** No API key, no base URL, unreadable configuration. */
export class ConfigError extends LeadsError {
  readonly code = 'config';
}

/** The service rejected the key (401, 403). */
export class KeyRejectedError extends LeadsError {
  readonly code = 'key_refused';
}

/** The service could not be reached, or kept failing, or kept rate-limiting. */
export class ServiceError extends LeadsError {
  readonly code = 'service_unavailable';
}

/** The service's answer, or an input file, is not what it must be. */
export class DataError extends LeadsError {
  readonly code = 'invalid_data';
}

/** There is no lead, or no delivery, of the id that was asked for: the run itself worked. */
export class LeadNotFoundError extends LeadsError {
  readonly code = 'lead_not_found';
}

/** Output could not be written: disk full, I/O error. */
export class OutputError extends LeadsError {
  readonly code = 'output';
}

/** The run was ended before it was complete, by a signal or by the reader of stdout: output is incomplete. */
export class InterruptedError extends LeadsError {
  readonly code = 'interrupted';
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

  constructor(signal: InterruptedError['signal'], details: ErrorDetails = {}) {
    super(signal === 'SIGPIPE' ? 'the reader of stdout went away' : 'interrupted', details);
    this.signal = signal;
  }
}

/** The message of a thrown value, which may be anything in JavaScript. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
