import { mkdtempSync, writeFileSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { listenProcess } from '../support/listen-process.ts';
import { until } from '../support/until.ts';

it('is told once the port is bound, through the socket that it named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leads-systemd-'));
  const told = join(folder, 'told');
  const script = `#!/bin/sh\necho "$@" "$NOTIFY_SOCKET" "$LEADS_WEBHOOK_TOKEN" >${told}.new && mv ${told}.new ${told}\n`;
  writeFileSync(join(folder, 'systemd-notify'), script, { mode: 0o755 });
  const path = [folder, process.env['PATH']].join(delimiter);
  const env = { PATH: path, NOTIFY_SOCKET: '/run/told', LEADS_WEBHOOK_TOKEN: 'secret' };
  const listener = await listenProcess(['--http', '--port', '0'], { env });
  await until(() => existsSync(told), 'systemd-notify');
  expect(readFileSync(told, 'utf8')).toBe('--ready /run/told \n');
  expect(await listener.end('SIGTERM')).toBe(143);
});
