import { describe } from '../describe.ts';
import type { Answer } from '../http/server/send-answer.ts';
import type { Rejection } from '../webhook/delivery-answer.ts';
import type { WireProblem } from './wire.ts';

export interface ApiProblem extends WireProblem {
  readonly status: number;
}

export class RequestProblem extends Error {
  readonly problem: ApiProblem;

  constructor(problem: ApiProblem) {
    super(problem.problem);
    this.problem = problem;
  }
}

export const problemAnswer = (
  { status, ...body }: ApiProblem,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({ status, body, headers });

export const badRequest = (problem: string): RequestProblem =>
  new RequestProblem({ status: 400, code: 'bad-request', problem });

export const nothingThere: ApiProblem = {
  status: 404,
  code: 'not-found',
  problem: 'There is nothing at this path.',
};

export const notInInbox = (seq: number): ApiProblem => ({
  status: 404,
  code: 'not-found',
  problem: `Delivery ${seq} is not in the inbox: it was pruned or erased, or there never was one.`,
});

export function inboxFailed(error: unknown): ApiProblem {
  const { message: problem, hint } = describe(error);
  return { status: 503, code: 'inbox-failed', problem, ...(hint !== undefined && { hint }) };
}

export function rejectionAnswer({ status, detail: problem }: Rejection): Answer {
  return problemAnswer({ status, code: status === 503 ? 'busy' : 'bad-request', problem });
}
