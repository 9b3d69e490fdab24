import { describe, expect, it, onTestFinished } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { newInboxUrl } from '../../support/postgres/address.ts';
import { TcpProxy } from '../../support/postgres/proxy.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { appInEachTest } from './app.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();
const startApp = appInEachTest();
const address = await sharedPostgres();

describe.skipIf(address === undefined)('a receiver that is ended during a failover', () => {
  it('drains within its time, and says that a lead is stored only where the database did', async () => {
    if (address === undefined) throw new Error('no database');
    const proxy = await TcpProxy.start(address);
    onTestFinished(() => proxy.stop());
    const app = await startApp((_, response) => response.end());
    const inbox = newInboxUrl(address, { port: proxy.port });
    const listener = await start(['--forward-to', app.url, '--inbox', inbox, '--format', 'events']);
    const lost = proxy.loseNextCommit('settle_1').then(() => proxy.refuse());
    const posted = listener.post({ id: 'a' }).then(
      ({ status }) => status,
      () => undefined,
    );
    await lost;
    const { length } = listener.clock.sleeps;
    await until(() => listener.clock.sleeps.slice(length).includes(250));
    let isOver = false;
    void listener.done.then(() => (isOver = true));
    listener.abort(new InterruptedError('SIGTERM'));
    await until(() => listener.clock.sleeps.slice(length).includes(5000));
    listener.clock.advance(5000);
    await until(() => isOver);
    expect(await posted).not.toBe(200);
    expect(listener.events().map(({ verdict }) => verdict)).not.toContain('accepted');
  });
});
