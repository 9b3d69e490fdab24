import { commandLine, type Front, type Hint, hintFor, library } from './front.ts';

/** A warning, a reason, or another finding that is not thrown. The functions in the `errors.ts` of each room make them. */
export interface Problem {
  /** A stable name, for comparisons and tests. */
  readonly kind: string;
  /** A sentence without a full stop, which names no flag and no option. */
  readonly message: string;
  /** The option of the run that the sentence is about. The command line writes its name before the sentence. */
  readonly option?: string | undefined;
  readonly hint?: Hint | undefined;
}

export interface ErrorDetails {
  readonly hint?: Hint | undefined;
  /**
   * The option of the run that the error is about. The command line writes its name before the sentence.
   *
   * @internal
   */
  readonly option?: string | undefined;
  /**
   * A stable name, where code tells this failure from others of its class.
   *
   * @internal
   */
  readonly kind?: string | undefined;
  readonly cause?: unknown;
  readonly status?: number | undefined;
  /** The service's name for the request, for its support. */
  readonly requestId?: string | undefined;
}

/**
 * An expected failure; any other error that is thrown is a bug. Its `hint` names options of the library, and `describe` gives
 * the hint of the command line.
 */
export abstract class LeadsError extends Error {
  /** The name of the class as a literal: a bundler that minifies shortens the name that the class itself has. */
  abstract override readonly name: string;
  /** Stable, machine-readable name in JSON errors. */
  abstract readonly code: string;
  /**
   * The details for an error that is made from this one.
   *
   * @internal
   */
  declare readonly details: ErrorDetails;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    // Not enumerable: an application that prints the members of the error gets texts.
    Object.defineProperty(this, 'details', { value: details });
    this.hint = hintFor(details.hint, library);
    this.status = details.status;
    this.requestId = details.requestId;
  }

  /** @internal */
  get kind(): string | undefined {
    return this.details.kind;
  }
}

/** Unknown command, flag or value. */
export class UsageError extends LeadsError {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}

/** No API key, no base URL, unreadable configuration. */
export class ConfigError extends LeadsError {
  override readonly name = 'ConfigError';
  readonly code = 'config';
}

/** The service rejected the key. */
export class KeyRejectedError extends LeadsError {
  override readonly name = 'KeyRejectedError';
  readonly code = 'key_refused';
}

/** The service could not be reached, or kept failing, or kept rate-limiting. */
export class ServiceError extends LeadsError {
  override readonly name = 'ServiceError';
  readonly code = 'service_unavailable';
}

/** The service's answer, or an input file, is not what it must be. */
export class DataError extends LeadsError {
  override readonly name = 'DataError';
  readonly code = 'invalid_data';
}

/** There is no lead, or no delivery, with the requested id: the run itself worked. */
export class LeadNotFoundError extends LeadsError {
  override readonly name = 'LeadNotFoundError';
  readonly code = 'lead_not_found';
}

/** Output could not be written: disk full, I/O error. */
export class OutputError extends LeadsError {
  override readonly name = 'OutputError';
  readonly code = 'output';
}

/** The run was ended before it was complete, by a signal or by the reader of stdout: output is incomplete. */
export class InterruptedError extends LeadsError {
  override readonly name = 'InterruptedError';
  readonly code = 'interrupted';
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

  constructor(signal: InterruptedError['signal'], details: ErrorDetails = {}) {
    super(signal === 'SIGPIPE' ? 'the reader of stdout went away' : 'interrupted', details);
    this.signal = signal;
  }
}

export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** The sentence and the hint that a person at the command line reads. */
export const describe = (thrown: unknown) =>
  describeProblem({ message: messageOf(thrown), ...(thrown instanceof LeadsError ? thrown.details : {}) });

export const describeProblem = ({ message, option, hint }: Omit<Problem, 'kind'>, front = commandLine) => ({
  message: option === undefined ? message : `${front.option(option)}: ${message}`,
  hint: hintFor(hint, front),
});

/** The sentence and the hint as one text, for a note while a run goes on. */
export function noteText({ message, hint }: Omit<Problem, 'kind'>, front: Front = commandLine): string {
  const advice = hintFor(hint, front);
  return advice === undefined ? message : `${message}; ${advice}`;
}
