import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('retrying-sender.mjs', import.meta.url));

interface Sending {
  readonly child: ChildProcess;
  /** By id, the verdicts that it was told; growing. */
  readonly told: ReadonlyMap<string, readonly string[]>;
  /** When each lead was acknowledged. */
  readonly done: Promise<void>;
  readonly acks: () => number;
}

/** A service in a process of its own that sends each lead, 40 at a time, until it is acknowledged. */
export function startSender(
  url: string,
  ca: string,
  { token, leads }: { readonly token: string; readonly leads: number },
): Sending {
  const told = new Map<string, string[]>();
  let acks = 0;
  let rest = '';
  const child = spawn(process.execPath, [program, url, ca, token, String(leads), '40']);
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [id = '', verdict = ''] = line.split(' ');
      told.set(id, [...(told.get(id) ?? []), verdict]);
      acks += 1;
    }
  });
  const done = new Promise<void>((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`the sender ended with ${code ?? ''}`)),
    );
  });
  return { child, told, done, acks: () => acks };
}
