import { createServer, type RequestListener } from 'node:http';
import express from 'express';
import { expect, onTestFinished } from 'vitest';
import type { CheckRun, ProbeRecord } from './support.ts';
import { openServer } from '../support/open-server.ts';

export { express };

/** Serves on a free port until the test is done; gives the URL of /hook. */
export async function serve(listener: RequestListener): Promise<string> {
  const opened = await openServer(createServer(listener));
  onTestFinished(opened.close);
  return `${opened.url}/hook`;
}

export const probe = (run: CheckRun, name: string): ProbeRecord | undefined =>
  run.probes.find((one) => one.name === name);

/** Express as its users write it: what `verify` throws is answered 400, and nothing else is looked at. */
export async function serveExpress(
  parser: ReturnType<typeof express.json>,
  verify: (body: unknown, headers: Record<string, string>) => unknown,
): Promise<string> {
  const app = express();
  app.post('/hook', parser, (request, response) => {
    try {
      verify(request.body, request.headers as Record<string, string>);
    } catch {
      response.status(400).json({});
      return;
    }
    response.json({});
  });
  return serve(app);
}

export const raw = express.raw({ type: 'application/json' });

/** What a library for signatures leaves to the application: ids and shapes. */
export const leftToTheApplication = ['replay.nonce', 'body.no-lead'];

/** What `check` finds of a receiver that verifies JSON which was parsed and written again. */
export function expectOtherFormsRefused(run: CheckRun): void {
  expect(run.failed).toEqual(['credential.doubled', 'replay.nonce', 'body.spelling', 'body.no-lead']);
  expect(probe(run, 'body.spelling')).toMatchObject({
    seen: { status: 400 },
    detail: 'it answered 400 to an integer beyond 2^53',
  });
  expect(probe(run, 'body.spelling')?.hint).toContain('raw bytes');
  expect(run.exitCode).toBe(7);
}
