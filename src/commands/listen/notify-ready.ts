import { spawn } from 'node:child_process';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';

/** Says to systemd (`Type=notify`, `NotifyAccess=all`) that the port is bound: node has no datagram sockets of files. */
export function notifyReady({ env, messages }: Pick<Context, 'env' | 'messages'>): void {
  const { PATH, NOTIFY_SOCKET } = env;
  const child = spawn('systemd-notify', ['--ready'], { env: { PATH, NOTIFY_SOCKET }, stdio: 'ignore' });
  child.on('error', (error) => messages.warn(`systemd was not told that this is ready: ${messageOf(error)}`));
  child.on('exit', (code) => {
    if (code !== 0) messages.warn('systemd was not told that this is ready: systemd-notify failed');
  });
}
