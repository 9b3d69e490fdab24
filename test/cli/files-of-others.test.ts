import { chmodSync, chownSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { authorityOf, listenProcess } from '../support/listen-process.ts';
import { freshHome, leads } from '../support/run.ts';
import { asStranger, canBeStranger, stranger } from '../support/stranger.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** What `doctor` warns of, each with its name. */
async function warningsOf(home: string): Promise<readonly string[]> {
  const { stdout } = await leads(['doctor', '--json', '--base-url', 'http://127.0.0.1:1', '--retries', '0'], {
    home,
  });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines
    .filter(({ result }) => result === 'warn')
    .map(({ name, detail }) => `${String(name)}: ${String(detail)}`);
}

it.runIf(canBeStranger)(
  'listen uses an inbox and a key that others own and share, and doctor says it',
  async () => {
    const home = freshHome();
    const words = ['--token', 'secret', '--port', '0'];
    chownSync(home, stranger, stranger);
    // For access(2), which takes no heed of what the stranger may do beyond others.
    chmodSync(dirname(home), 0o711);
    const first = await listenProcess(words, { home, through: asStranger });
    expect(await first.end('SIGTERM')).toBe(143);
    const data = join(home, 'data');
    const shared = [join(data, 'inbox.db'), join(dirname(authorityOf(home)), 'ca-key.pem')];
    for (const path of shared) {
      chownSync(path, stranger + 1, stranger);
      chmodSync(path, 0o660);
    }
    const again = await listenProcess(words, { home, through: asStranger });
    expect(await again.end('SIGTERM')).toBe(143);
    expect(shared.map(modeOf)).toEqual([0o660, 0o660]);
    expect(await warningsOf(home)).toEqual(
      expect.arrayContaining([
        `receiver.inbox-mode: ${shared[0]} is readable by others (0660)`,
        `receiver.authority-mode: ${shared[1]} is readable by others (0660)`,
      ]),
    );
    // Root may close them.
    const closing = await listenProcess(words, { home });
    expect(await closing.end('SIGTERM')).toBe(143);
    expect(shared.map(modeOf)).toEqual([0o600, 0o600]);
    expect((await warningsOf(home)).join()).not.toContain('readable by others');
  },
);
