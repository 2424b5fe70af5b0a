/** Reverse proxies with TLS in front of two API processes, configured as docs/operate/reverse-proxy.md shows it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { newUuid } from '../../src/platform/core/ids.ts';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { MAX_UPLOAD_BYTES } from '../../src/resources/attachments/model.ts';
import { workspaceMembers } from '../../src/resources/members/table.ts';
import { removeWithUs } from '../bench/processes.ts';
import { client, linkIn } from '../resources/sign-in/people.ts';
import { startNativePostgres } from '../support/database/native-postgres.ts';
import { keepBusy } from '../support/http/busy.ts';
import { openStream, type OpenStream } from '../support/http/event-stream.ts';
import { deploy, type Deployment } from '../support/processes/deployment.ts';
import { quietPort } from '../support/processes/ports.ts';
import { unpackDebianPackage } from '../support/programs/debian-package.ts';
import { isMissing, reasonOf } from '../support/programs/missing.ts';
import {
  makeCertificate,
  startReverseProxy,
  type ProxyName,
  type ReverseProxy,
} from '../support/programs/reverse-proxy.ts';
import { call, eventually } from '../support/service/service.ts';

/** Two health checks of the proxy: a process stops when the one before it has work again. */
const UNTIL_SEEN_MS = 2_000;
const OWNER = 'owner@proxy.example';

const folder = await mkdtemp(join(tmpdir(), 'aos-reverse-proxy-'));
removeWithUs(folder);
const probe = await startNativePostgres();
if (typeof probe !== 'string') await probe.stop();
const reason = typeof probe === 'string' ? probe : await reasonOf(makeCertificate(folder));
const inFront = async (name: ProxyName) =>
  isMissing(`${name} in front`, reason ?? (await reasonOf(unpackDebianPackage(name)))) ? describe.skip : describe;
const wanted: [ProxyName, typeof describe.skip][] = [
  ['nginx', await inFront('nginx')],
  ['caddy', await inFront('caddy')],
];

for (const [name, describeIt] of wanted)
  describeIt(name, () => {
    let deployment: Deployment;
    let proxy: ReverseProxy;
    let trusted: string[];
    let stream: OpenStream | undefined;
    beforeAll(async () => {
      const { certificate, key } = await makeCertificate(folder);
      trusted = getCACertificates('default');
      setDefaultCACertificates([...trusted, readFileSync(certificate, 'utf8')]);
      const port = await quietPort();
      deployment = await deploy({
        workers: 1,
        settings: { BASE_URL: `https://localhost:${port}`, TRUST_PROXY: '127.0.0.1', SHUTDOWN_DELAY: '5s' },
      });
      const [one, two] = deployment.replicas.flatMap(({ url }) => (url === undefined ? [] : new URL(url).host));
      proxy = await startReverseProxy(name, { port, certificate, key, upstreams: [present(one), present(two)] });
      await eventually(async () => expect((await fetch(`${proxy.url}/readyz`)).status).toBe(200));
    });
    afterAll(async () => {
      await stream?.close();
      await proxy?.close();
      await deployment?.close();
      if (trusted) setDefaultCACertificates(trusted);
    });

    const cookie = () => ({ cookie: `service_session=${deployment.session}` });
    const cp = (method: string, path: string, body?: unknown, headers = {}) =>
      call(`${proxy.url}/api/v1/cp${path}`, method, { ...cookie(), ...headers }, body);
    const apis = () => deployment.replicas.filter(({ part }) => part === 'api');
    const logs = () =>
      apis()
        .map((each) => readFileSync(join(deployment.folder, `${each.name}.log`), 'utf8'))
        .join('');
    const dispatch = async (): Promise<string> => {
      const authorization = `Bearer ${deployment.apiKey}`;
      const { status, body } = await call(
        `${proxy.url}/v1/runs`,
        'POST',
        { authorization },
        { agent: 'assistant', prompt: 'Hi' },
      );
      expect(status).toBe(201);
      return body.run_id;
    };

    // Guards: people sign in by the public address: links lead to it, cookies are for https, and pages of other sites do nothing.
    test('sign-in, its cookie and the console', async () => {
      const http = client({ baseUrl: proxy.url });
      await deployment.db.orm
        .insert(workspaceMembers)
        .values({ id: newUuid(), customerId: 'internal', email: OWNER, role: 'owner', invitedBy: 'test' });
      const own = { origin: proxy.url };
      const asked = await http.form('/login/code', { email: OWNER }, { headers: own });
      const challenge_id = present(/name="challenge_id" value="([^"]+)"/.exec(asked.text)?.[1], 'a challenge');
      const mail = await eventually(() => {
        const line = logs()
          .split('\n')
          .find((each) => each.includes('"event":"mail"') && each.includes(challenge_id));
        const mail: { text: string; code: string } = JSON.parse(present(line, 'a mail'));
        return mail;
      });
      expect(linkIn(mail.text).url.origin).toBe(proxy.url);
      const entered = await http.form('/login/verify', { challenge_id, code: mail.code }, { headers: own });
      expect([entered.status, entered.headers.get('location')]).toEqual([303, '/login']);
      const session = present(entered.setCookies.find((line) => line.startsWith('service_session=')));
      expect(session).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      const { cookies } = entered;
      expect((await http.get('/console', { cookies })).text).toContain('<html');
      const post = (origin: string) =>
        http.json('/api/v1/cp/v1/api-keys', { name: 'a' }, { cookies, headers: { origin } });
      expect((await post('https://elsewhere.example')).status).toBe(403);
      expect((await post(proxy.url)).status).toBe(201);
      expect((await http.form('/logout', {}, { cookies, headers: own })).status).toBe(200);
      expect((await http.get('/api/v1/cp/v1/api-keys', { cookies })).status).toBe(401);
    });

    // Guards against: a proxy that holds events back, and a stream that cannot go on where it broke off.
    test('a live stream, and its resumption', async () => {
      const live = `${proxy.url}/api/v1/cp/v1/live`;
      const ofRun = (id: string, topic: string) => (event: { data: { run_id?: string; topic?: string } }) =>
        event.data.run_id === id && event.data.topic === topic;
      stream = await openStream(live, cookie());
      const seen = await dispatch();
      await stream.first(ofRun(seen, 'run_completed'));
      const last = present(stream.events.findLast(({ id }) => id !== undefined)?.id);
      await stream.close();
      const missed = await dispatch();
      stream = await openStream(live, { ...cookie(), 'last-event-id': last });
      await stream.first(ofRun(missed, 'run_completed'));
      expect(stream.events.filter(({ data }) => data.run_id === seen)).toEqual([]);
      await stream.close();
    });

    const upload = (bytes: number) => {
      const form = new FormData();
      form.append('files', new Blob([new Uint8Array(bytes).fill(97)]), 'large.txt');
      return cp('POST', '/v1/files/upload', form);
    };

    // Guards against: a proxy that refuses what the service takes, or answers in its place what the service refuses.
    test('uploads as large as they may be, and larger ones', async () => {
      expect(await upload(MAX_UPLOAD_BYTES)).toMatchObject({
        status: 201,
        body: { data: [{ size_bytes: MAX_UPLOAD_BYTES }] },
      });
      const refused = { status: 413, body: { detail: 'payload_too_large' } };
      expect(await upload(MAX_UPLOAD_BYTES + 1)).toMatchObject(refused);
      // The service reads 16 MiB more than it takes and then closes. A proxy that still sends may be cut then, and
      // answers by itself.
      const post = (bytes: number) => cp('POST', '/v1/agents', { slug: 'a', prompt: 'a'.repeat(bytes) });
      expect(await post(2 ** 21)).toMatchObject(refused);
      expect([413, 502]).toContain((await post(20 * 2 ** 20)).status);
      expect((await upload(45 * 2 ** 20)).status).toBe(413);
    });

    let links = 0;
    /**
     * Visits a link that nobody visited before.
     * @param client address of the loopback network that it connects from
     */
    async function visit(client: string, headers: Record<string, string> = {}): Promise<number> {
      const path = `/act/${String((links += 1)).padStart(32, 'x')}.${'y'.repeat(43)}`;
      const asked = request(`${proxy.url}${path}`, {
        host: '127.0.0.1',
        localAddress: client,
        servername: 'localhost',
        headers,
      });
      asked.end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      await text(response);
      return present(response.statusCode);
    }

    // Guards against: one limit for everybody behind the proxy, and clients that name themselves.
    test('limits by the address of the client', async () => {
      const statuses = new Map<number, number>();
      // 300 a minute at each of the two processes.
      for (let batch = 0; batch < 14; batch++) {
        const sent = Array.from({ length: 50 }, (_, n) => visit('127.0.0.2', { 'x-forwarded-for': `203.0.113.${n}` }));
        for (const status of await Promise.all(sent)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      expect([...statuses.keys()].sort()).toEqual([404, 429]);
      expect(statuses.get(429)).toBeGreaterThanOrEqual(100);
      const others = await Promise.all(Array.from({ length: 20 }, () => visit('127.0.0.3')));
      expect([...new Set(others)]).toEqual([404]);
    });

    // Guards: processes are replaced one after the other, and no client is told of it but the readers of streams, which go on.
    test('a rolling restart without a request that fails', async () => {
      const authorization = `Bearer ${deployment.apiKey}`;
      stream = await openStream(`${proxy.url}/api/v1/cp/v1/live`, cookie());
      const last = (await stream.first(({ event }) => event === 'open')).data.cursor;
      const reads = keepBusy([`${proxy.url}/v1/agents`], 6, { authorization });
      const json = { authorization, 'content-type': 'application/json' };
      const writes = keepBusy([`${proxy.url}/v1/runs`], 3, json, '{}');
      const untilMore = (count: number) =>
        eventually(() => expect(Math.min(reads.answered, writes.answered)).toBeGreaterThan(count));
      await untilMore(50);
      for (const api of apis()) {
        await deployment.kill(api, 'SIGTERM');
        await deployment.start(api);
        await wait(UNTIL_SEEN_MS);
      }
      await untilMore(Math.max(reads.answered, writes.answered) + 50);
      await Promise.all([reads.end(), writes.end()]);
      const outcome = ({ lost, statuses }: typeof reads) => ({ lost, statuses: [...statuses] });
      expect(outcome(reads)).toEqual({ lost: [], statuses: [200] });
      expect(outcome(writes)).toEqual({ lost: [], statuses: [422] });
      expect(itemAt(stream.events, -1)).toMatchObject({ event: 'end', data: { reason: 'shutdown' } });
      const during = await dispatch();
      stream = await openStream(`${proxy.url}/api/v1/cp/v1/live`, { ...cookie(), 'last-event-id': last });
      await stream.first(({ data }) => data.run_id === during);
    });
  });
