import type { RequestListener } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { express, probe, raw, serve } from '../check/express-receiver.ts';
import { check } from '../check/support.ts';

test("Octokit's middleware verifies well, and takes any JSON", async () => {
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const webhooks = new Webhooks({ secret: 's3cret', log });
  const url = await serve(createNodeMiddleware(webhooks, { path: '/hook', log }) as RequestListener);
  const github = ['--header', 'X-GitHub-Event: push', '--header', 'X-GitHub-Delivery: d-1'];
  const run = await check([url, '--scheme', 'github', '--secret', 's3cret', ...github]);
  expect(run.failed).toEqual(['body.no-lead']);
  expect(probe(run, 'body.no-lead')?.seen).toMatchObject({ status: 500 });
  expect(run.exitCode).toBe(0);
});

test("the handler of Stripe's documentation takes what is signed for next week", async () => {
  const stripe = new Stripe('sk_test_x');
  const app = express();
  app.post('/hook', raw, (request, response) => {
    let event: Stripe.Event;
    try {
      const signature = request.headers['stripe-signature'] ?? '';
      event = stripe.webhooks.constructEvent(request.body as Buffer, signature, 's3cret');
    } catch (error) {
      response.status(400).send(`Webhook Error: ${(error as Error).message}`);
      return;
    }
    response.json({ received: true, type: event.type });
  });
  const run = await check([await serve(app), '--scheme', 'stripe', '--secret', 's3cret']);
  expect(run.failed).toEqual(['credential.doubled', 'time.far', 'body.no-lead']);
  expect(probe(run, 'time.far')?.detail).toBe('it answered 200 to a delivery signed a week in the future');
  expect(run.exitCode).toBe(7);
});
