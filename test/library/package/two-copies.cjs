// Run as a process of its own: the package, imported and required, has two copies of its code. Are they one for an application?
'use strict';
const assert = require('node:assert/strict');

const choice = { scheme: 'standard-webhooks', secrets: 'whsec_dGVzdC1zZWNyZXQtMDEyMzQ1Njc4OQ==' };

async function copies(name) {
  const [imported, required] = [await import(`leads-cli/${name}`), require(`leads-cli/${name}`)];
  assert.deepEqual(Object.keys(imported).sort(), Object.keys(required).sort());
  return [
    [imported, required],
    [required, imported],
  ];
}

async function main() {
  for (const name of ['webhook', 'receiver', 'client', 'testing']) {
    for (const [one, other] of await copies(name)) {
      assert.notEqual(one.ConfigError, other.ConfigError);
      const error = new one.ConfigError('text');
      assert.ok(error instanceof other.ConfigError && error instanceof other.LeadsError);
      assert.ok(
        !(
          new one.ConfigError('') instanceof (other.ParsedBodyError ?? other.UsageError ?? other.OutputError)
        ),
      );
      assert.equal(error.name, 'ConfigError');
      class Own extends other.ConfigError {}
      assert.ok(!(error instanceof Own) && new Own('') instanceof one.ConfigError);
    }
  }
  for (const [one, other] of await copies('receiver')) await memory(one, other);
  const [[imported, required]] = await copies('receiver');
  await file(imported, required);
  process.stdout.write('one\n');
}

const request = async (sign, id) => new Request('https://app.test/', await sign({ id }, choice));

/** An inbox of one copy, in a receiver of the other: its errors are known there. */
async function memory(one, other) {
  const { sign } = require('leads-cli/webhook');
  const taken = [];
  const receiver = other.createReceiver({
    ...choice,
    inbox: one.memoryInbox(),
    onLead: ({ id }) => taken.push(id),
  });
  for (let i = 0; i < 2; i += 1) assert.equal((await receiver.fetch(await request(sign, 'a'))).status, 200);
  await receiver.close();
  assert.deepEqual(taken, ['a']);
  const errors = [];
  const full = {
    take: () => Promise.reject(new one.OutputError('full')),
    reject() {},
    unsettled: async function* () {},
  };
  const failing = other.createReceiver({
    ...choice,
    inbox: full,
    onLead() {},
    onError: (error) => errors.push(error),
  });
  assert.equal((await failing.fetch(await request(sign, 'b'))).status, 503);
  assert.ok(errors[0] instanceof other.OutputError);
}

/** Two receivers on one file: the lease that one has on a lead is no dead process's for the other. */
async function file(one, other) {
  const { sign } = require('leads-cli/webhook');
  let started;
  let finish;
  const isCalled = new Promise((resolve) => (started = resolve));
  const calls = [];
  const onLead = ({ id }) => {
    calls.push(id);
    started();
    return new Promise((resolve) => (finish = resolve));
  };
  const first = one.createReceiver({ ...choice, inbox: one.fileInbox('leads.db'), onLead });
  const answer = first.fetch(await request(sign, 'a'));
  await isCalled;
  // Its first round hands over what nobody holds.
  const second = other.createReceiver({ ...choice, inbox: other.fileInbox('leads.db'), onLead });
  assert.equal((await second.fetch(await request(sign, 'a'))).status, 502);
  assert.deepEqual(calls, ['a']);
  finish();
  assert.equal((await answer).status, 200);
  await Promise.all([first.close(), second.close()]);
  assert.deepEqual(calls, ['a']);
}

void main();
