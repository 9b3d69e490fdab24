import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../src/exit-codes.ts';
import { scripted, serviceAt } from '../support/service.ts';
import { leadIds, type Vendor, vendors } from '../support/vendor-services.ts';
import { walk, type Walked } from '../support/walk.ts';

async function walkOver({ answer, dialect }: Pick<Vendor, 'answer' | 'dialect'>): Promise<Walked> {
  const server = await scripted((request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host ?? ''}`);
    const { status = 200, headers, body } = answer(url.searchParams, url);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  const service = await serviceAt(server.url, { dialect });
  try {
    return await walk(service);
  } finally {
    await service.close();
    await server.close();
  }
}

describe.each(vendors)('pages as $name answers them', (vendor) => {
  it('are read to the end', async () => {
    const { ids, completion } = await walkOver(vendor);
    expect(ids).toEqual(leadIds);
    expect(completion?.kind).toBe('complete');
  });

  it('lose nothing in silence where nothing is set', async () => {
    const walked = await walkOver({ ...vendor, dialect: {} }).catch((error: unknown) => error);
    if (walked instanceof Error) expect(exitCodeOf({ thrown: walked })).toBe(6);
    else expect(walked).toMatchObject({ ids: leadIds, completion: { kind: 'complete' } });
  });
});
