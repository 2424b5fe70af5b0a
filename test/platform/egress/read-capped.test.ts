import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createEgress } from '../../../src/platform/egress/egress.ts';
import { readCapped } from '../../../src/platform/egress/read-capped.ts';
import { ANSWER_LIMITS } from '../../support/service/answer-limits.ts';
import { portOf } from '../../support/processes/listening.ts';

const fetchFrom = async <T>(answer: RequestListener, use: (response: Response) => Promise<T>): Promise<T> => {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const port = portOf(server);
  const egress = createEgress({ allowlist: [`127.0.0.1:${port}`], allowHttp: true, limits: ANSWER_LIMITS });
  try {
    return await use(await egress.fetch(`http://127.0.0.1:${port}/`));
  } finally {
    await egress.close();
    await new Promise((closed) => server.close(closed));
  }
};

// Guards: an endless body costs no more memory than the limit, and its sender is cut off.
test('stops reading at the limit', async () => {
  let cutOff: Promise<unknown> | undefined;
  const result = await fetchFrom(
    (_, response) => {
      cutOff = once(response, 'close');
      const write = () => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', write);
      };
      write();
    },
    async (response) => {
      const read = await readCapped(response, 50_000);
      await cutOff;
      return read;
    },
  );
  expect(result.bytes).toHaveLength(50_000);
  expect(result.cut).toBe(true);
});

// Guards: the limit counts the decompressed bytes.
test('counts decompressed bytes', async () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const result = await fetchFrom(
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    (response) => readCapped(response, 1_000),
  );
  expect(result).toMatchObject({ cut: true, bytes: { length: 1_000 } });
});

// Guards against: bodies that were compressed several times, where each layer multiplies the size.
test.each(['gzip, gzip', 'GZIP,identity,gzip'])('refuses %s', async (coding) => {
  const read = fetchFrom(
    (_, response) => response.writeHead(200, { 'content-encoding': coding }).end(gzipSync(gzipSync('words'))),
    (response) => readCapped(response, 1_000),
  );
  await expect(read).rejects.toThrow('the answer is compressed more than once');
});

// Guards: a body of exactly the limit is whole, and an absent body is empty.
test('says when nothing was cut', async () => {
  const exact = await fetchFrom(
    (_, response) => response.end('12345'),
    (response) => readCapped(response, 5),
  );
  expect(exact).toEqual({ bytes: Buffer.from('12345'), cut: false });
  const none = await fetchFrom(
    (_, response) => response.writeHead(204).end(),
    (response) => readCapped(response, 5),
  );
  expect(none).toEqual({ bytes: Buffer.alloc(0), cut: false });
});
