import { expect, it } from 'vitest';
import type { ListenSession } from '../../../src/commands/listen/session.ts';
import { startInspect } from '../../../src/commands/listen/start-inspect.ts';
import { ConfigError } from '../../../src/errors.ts';

it('says why the process of the page could not be started', async () => {
  const session = {
    context: { program: ['/none/leads'], globals: { color: true }, env: {} },
    flags: { forwardTo: [] },
    stop: { signal: new AbortController().signal },
    location: '/inbox.db',
    verifier: { scheme: { name: 'token' }, keys: [] },
  } as unknown as ListenSession;
  const error = new ConfigError('the page of --inspect did not start: it ended (spawn /none/leads ENOENT)');
  await expect(startInspect(session, 0)).rejects.toThrow(error);
});
