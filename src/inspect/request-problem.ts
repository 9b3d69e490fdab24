import { describe } from '../errors.ts';
import type { Answer } from '../http/server/server-options.ts';
import type { WireProblem } from './wire.ts';

/** An error with the answer for the page. */
export class RequestProblem extends Error {
  readonly answer: Answer;

  constructor(status: number, code: WireProblem['code'], problem: string, hint?: string) {
    super(problem);
    this.answer = { status, body: { code, problem, hint } };
  }
}

/** The error itself where it is a `RequestProblem`; any other error is a failure of the inbox, whose message begins with `start`. */
export function requestProblem(error: unknown, start = ''): RequestProblem {
  if (error instanceof RequestProblem) return error;
  const { message, hint } = describe(error);
  return new RequestProblem(503, 'inbox-failed', `${start}${message}`, hint);
}

export const badRequest = (problem: string): RequestProblem =>
  new RequestProblem(400, 'bad-request', problem);

export const nothingThere = (): RequestProblem =>
  new RequestProblem(404, 'not-found', 'There is nothing at this path.');

export function notInInbox(seq: number): RequestProblem {
  const problem = `Delivery ${seq} is not in the inbox: it was pruned or erased, or there never was one.`;
  return new RequestProblem(404, 'not-found', problem);
}

export function wrongMethod(allow: string): Answer {
  const { answer } = new RequestProblem(405, 'bad-request', `This path takes ${allow} only.`);
  return { ...answer, headers: { allow } };
}
