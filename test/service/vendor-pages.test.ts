import { describe, expect, it } from 'vitest';
import { leadIds, type Vendor, vendors } from '../support/vendor-services.ts';
import { replying } from '../support/replying.ts';
import { walk, type Walked } from '../support/walk.ts';

async function walkOver({ answer, dialect }: Pick<Vendor, 'answer' | 'dialect'>): Promise<Walked> {
  const { service } = await replying(
    ({ request, response }) => {
      const url = new URL(request.url ?? '', `http://${request.headers.host ?? ''}`);
      const { status = 200, headers, body } = answer(url.searchParams, url);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      return response.end(body === undefined ? undefined : JSON.stringify(body));
    },
    { dialect },
  );
  return await walk(service);
}

describe.each(vendors)('pages as $name answers them', (vendor) => {
  it('are read to the end', async () => {
    const { ids, completion } = await walkOver(vendor);
    expect(ids).toEqual(leadIds);
    expect(completion?.kind).toBe('complete');
  });

  it('lose nothing in silence where nothing is set', async () => {
    const walked = walkOver({ ...vendor, dialect: {} });
    // Nothing in its answers names the parameter that leads on, and `from` is no number of a page.
    if (vendor.name === 'Elasticsearch') await expect(walked).rejects.toThrow('no way past the first 10');
    else expect(await walked).toMatchObject({ ids: leadIds, completion: { kind: 'complete' } });
  });
});
