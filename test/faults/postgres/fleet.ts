import { onTestFinished } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { type PostgresAddress, newSchema, urlOf } from '../../support/postgres/address.ts';
import { type AdminProcess, adminProcess } from '../admin-process.ts';

/** An inbox that nothing else uses, as a receiver is started with it: the password is not among the arguments. */
export interface FleetInbox {
  /** With the password. */
  readonly url: string;
  readonly schema: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `port`: of a proxy or a pooler in front of the server. */
export function fleetInbox(
  { port, ...address }: PostgresAddress,
  parts: {
    readonly user?: string;
    readonly port?: number;
    readonly database?: string;
    readonly schema?: string;
  } = {},
): FleetInbox {
  const { schema = newSchema() } = parts;
  const to = { port, ...parts, parameters: { schema } };
  return {
    url: urlOf({ port, ...address }, to),
    schema,
    argv: ['--inbox', urlOf({ port, ...address }, { ...to, password: '' })],
    env: { PGPASSWORD: address.password },
  };
}

/** Receivers of one inbox, each a process of its own with a port that stays. */
export class Fleet {
  readonly receivers: AdminProcess[] = [];
  readonly #inbox: FleetInbox;
  readonly #argv: readonly string[];
  readonly #ports: number[] = [];

  private constructor(inbox: FleetInbox, argv: readonly string[]) {
    this.#inbox = inbox;
    this.#argv = argv;
  }

  static async start(count: number, inbox: FleetInbox, argv: readonly string[] = []): Promise<Fleet> {
    const fleet = new Fleet(inbox, argv);
    for (let i = 0; i < count; i += 1) fleet.#ports.push(await freePort());
    fleet.receivers.push(...(await Promise.all(fleet.#ports.map((_, i) => fleet.#start(i)))));
    return fleet;
  }

  /** Any of them. */
  any(): AdminProcess {
    return this.at(Math.floor(Math.random() * this.receivers.length));
  }

  at(index: number): AdminProcess {
    const receiver = this.receivers[index];
    if (receiver === undefined) throw new Error(`there is no receiver ${index}`);
    return receiver;
  }

  /** Kills one without warning and starts it again. */
  async kill(index: number): Promise<void> {
    await this.at(index).end('SIGKILL');
    this.receivers[index] = await this.#start(index);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<(number | string)[]> {
    return Promise.all(this.receivers.map((receiver) => receiver.end(signal)));
  }

  #start(index: number): Promise<AdminProcess> {
    const argv = ['--port', String(this.#ports[index]), ...this.#inbox.argv, ...this.#argv];
    return adminProcess(argv, { env: this.#inbox.env });
  }
}

/** The same, ended after the test. */
export async function startFleet(...args: Parameters<typeof Fleet.start>): Promise<Fleet> {
  const fleet = await Fleet.start(...args);
  onTestFinished(async () => {
    await fleet.end();
  });
  return fleet;
}
