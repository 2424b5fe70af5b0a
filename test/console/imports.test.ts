/** What an archive has is brought in, in the console: chosen, sent in parts, gone on with, and what came of it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page as Tab } from 'playwright-core';
import { present } from '../../src/platform/core/present.ts';
import { archiveOf, rowsOf } from '../support/archives/make.ts';
import { testAccessibility } from '../support/console/accessible.ts';
import { PHONE } from '../support/console/browser.ts';
import { confirm } from '../support/console/confirm.ts';
import { describeConsole, type Stage } from '../support/console/stage.ts';
import { sessionFor } from '../support/service/service.ts';
import { makeExport } from '../support/fixtures/belongings.ts';

const LONG_MS = 240_000;
const PATH = '/v1/workspaces/acc_acme/imports';

await describeConsole('imports', {}, (stage) => {
  /** Millions of bytes are read, sent and looked through, beside whatever else the machine does. */
  const show: Stage['show'] = async (...given) => {
    const shown = await stage.show(...given);
    shown.tab.setDefaultTimeout(60_000);
    return shown;
  };
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-console-imports-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Two parts: a conversation, a row of it that is not its own, and a file of it that packs badly. */
  async function archive(name: string, bytes = 8_400_000): Promise<string> {
    const [thread, file] = [randomUUID(), randomUUID()];
    const content = randomBytes(bytes);
    const path = join(folder, name);
    const rows = [
      rowsOf('chat_threads', [
        { id: thread, title: `Of ${name}`, agent_slug: 'assistant', created_by: 'ana', created_at: AT, updated_at: AT },
      ]),
      rowsOf('attachments', [
        { ...ATTACHED, id: file, owner_id: thread, size_bytes: bytes },
        { ...ATTACHED, id: randomUUID(), owner_id: randomUUID(), size_bytes: 1 },
      ]),
    ];
    await writeFile(path, await archiveOf([...rows, { name: `files/attachments/${file}`, content }]));
    return path;
  }
  const AT = '2026-11-25T14:31:00Z';
  const ATTACHED = {
    owner_kind: 'chat_thread',
    filename: 'a.bin',
    content_type: 'text/plain',
    sha256: 'a',
    created_at: AT,
  };

  async function choose(tab: Tab, path: string): Promise<void> {
    await tab.getByRole('button', { name: 'Bring an archive in' }).click();
    const form = tab.getByRole('dialog', { name: 'Bring an archive in' });
    await form.getByLabel('Archive').setInputFiles(path);
    await form.getByRole('button', { name: 'Bring it in' }).click();
  }
  const latest = async () => (await stage.acme.cp('GET', PATH)).body.data[0];

  // Guards: an archive is brought in from its file, goes on where a cut left it, and says what came, what did not, and why.
  test(
    'an archive is chosen, sent with a cut, and brought',
    async () => {
      const path = await archive('shop.tar.gz');
      const { tab, open } = await show();
      await open('/workspace');
      await tab.getByRole('tab', { name: 'Imports' }).click();
      await tab.getByRole('heading', { name: 'Nothing was brought in yet' }).waitFor();
      let isCut = true;
      await tab.route('**/parts/1', (route) => (isCut ? route.abort() : route.continue()));
      await confirm(tab, () => choose(tab, path));
      const upload = tab.getByRole('region', { name: 'Upload' });
      await upload.getByText('The service cannot be reached. What was sent is kept').waitFor();
      expect(await latest()).toMatchObject({ status: 'uploading', parts: 1, of_parts: 2 });
      isCut = false;
      await upload.getByRole('button', { name: 'Go on' }).click();
      const pane = tab.getByRole('region', { name: 'Import of acc_source' });
      await pane.getByText('Brought: 3').waitFor();
      await pane
        .getByRole('list', { name: 'Could not be brought' })
        .getByText(/a row of attachments/)
        .waitFor();
      await pane.getByText('What no import brings, and why').click();
      await pane.getByText('who may sign in is said by this workspace').waitFor();
      expect(await upload.count()).toBe(0);
      await open('/chat');
      await tab.getByRole('link', { name: /Of shop.tar.gz/ }).waitFor();
    },
    LONG_MS,
  );

  // Guards: an upload whose window was closed goes on with the same file, and with no other.
  test(
    'an upload goes on in another window',
    async () => {
      const [path, other] = [await archive('long.tar.gz'), await archive('other.tar.gz', 10)];
      const first = await show();
      await first.open('/workspace?tab=imports');
      await first.tab.route('**/parts/1', (route) => route.abort());
      await confirm(first.tab, () => choose(first.tab, path));
      await first.tab.getByText('The service cannot be reached').waitFor();
      const { tab, open } = await show();
      await open('/workspace?tab=imports');
      await tab
        .getByRole('row', { name: /Uploading/ })
        .getByRole('link')
        .click();
      await tab.getByText('1 of 2 parts are there').waitFor();
      await tab.getByLabel('Archive').setInputFiles(other);
      await tab.getByRole('button', { name: 'Go on' }).click();
      await tab.getByText('This is another file than the one').waitFor();
      await tab.getByRole('button', { name: 'Later' }).click();
      await tab.getByLabel('Archive').setInputFiles(path);
      await tab.getByRole('button', { name: 'Go on' }).click();
      await tab.getByRole('region', { name: 'Import of acc_source' }).getByText('Brought: 3').waitFor();
    },
    LONG_MS,
  );

  // Guards: what is no archive, or a damaged one, is told in words, before anything is sent where that can be.
  test(
    'a file that is none is told so',
    async () => {
      const { tab, open } = await show();
      await open('/workspace?tab=imports');
      const path = join(folder, 'notes.tar.gz');
      await writeFile(path, 'Notes');
      await choose(tab, path);
      await tab.getByText('This file is no archive of a workspace').waitFor();
      await tab.getByRole('button', { name: 'Leave it' }).click();
      const damaged = join(folder, 'damaged.tar.gz');
      await writeFile(damaged, Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(1_000)]));
      await confirm(tab, () => choose(tab, damaged));
      await tab.getByRole('alert').getByText('The archive is damaged. Something of it is missing').waitFor();
    },
    LONG_MS,
  );

  // Guards: an import that is not wanted any more is stopped where it is seen, and nothing of it is sent from then on.
  test(
    'an upload is stopped',
    async () => {
      const { tab, open } = await show();
      await open('/workspace?tab=imports');
      let parts = 0;
      // The first part stays on its way until the import was stopped.
      const { promise: stopped, resolve: goOn } = Promise.withResolvers<void>();
      await tab.route('**/parts/*', async (route) => {
        parts += 1;
        await stopped;
        await route.continue();
      });
      const path = await archive('stopped.tar.gz');
      await confirm(tab, () => choose(tab, path));
      await tab
        .getByRole('row', { name: /Uploading/ })
        .getByRole('link')
        .click();
      await tab.getByRole('button', { name: 'Stop' }).click();
      await tab.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
      await tab.getByRole('row', { name: /Removed/ }).waitFor();
      expect(await tab.getByRole('region', { name: 'Upload' }).count()).toBe(0);
      const refused = tab.waitForResponse((response) => response.url().endsWith('/parts/0'));
      goOn();
      expect((await refused).status()).toBe(409);
      expect(await latest()).toMatchObject({ parts: 0, status: 'removed' });
      expect(parts).toBe(1);
    },
    LONG_MS,
  );

  // Guards: whoever may not bring something in is not offered it.
  test('nobody but an owner sees imports', async () => {
    for (const role of ['admin', 'member', 'viewer'] as const) {
      const { tab, open } = await show({}, { session: sessionFor(stage.acme.caller, role) });
      await open('/workspace?tab=imports');
      await tab.getByRole('tab', { name: 'Members' }).waitFor();
      expect([role, await tab.getByRole('tab', { name: 'Imports' }).count()]).toEqual([role, 0]);
    }
  });

  // Guards: on a phone, where the views are wider than the window, the one that is shown is among those that are seen.
  test('the view that is shown is in the row of views', async () => {
    const { tab, open } = await show(PHONE);
    await open('/workspace?tab=imports');
    const name = tab.getByRole('tab', { name: 'Imports' });
    await name.waitFor();
    await tab.getByRole('button', { name: 'Bring an archive in' }).waitFor();
    const { x, width } = present(await name.boundingBox());
    expect(x).toBeGreaterThanOrEqual(0);
    expect(Math.floor(x + width)).toBeLessThanOrEqual(390);
  });

  // Guards: WCAG 2.2 AA on each view, in both themes, at a desk and on a phone; nothing wider than the window.
  testAccessibility(
    stage,
    async () => {
      const exportId = await makeExport(stage.acme);
      const { data } = (await stage.acme.cp('GET', PATH)).body;
      const idOf = (status: string) => data.find((row: { status: string }) => row.status === status).id;
      return [
        ['/workspace?tab=imports', 'table'],
        [`/workspace?tab=imports&id=${idOf('done')}`, 'region'],
        [`/workspace?tab=imports&id=${idOf('failed')}`, 'region'],
        [`/workspace?tab=exports&id=${exportId}`, 'region'],
      ];
    },
    { onPhone: 'dark' },
  );
});
