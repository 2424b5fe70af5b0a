/** Every page and what it loads is there, and nothing else of the project is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from './pages.js';

test('each page loads only files that are served', async () => {
  for (const path of ['/', '/b/0123456789', '/o/0123456789abcdef0123456789abcdef']) {
    const { page, headers } = await readPage(path);
    assert.match(headers['content-type'], /^text\/html/);
    for (const [, address] of page.toString().matchAll(/(?:src|href)="(\/[^"]+)"/g)) assert.ok(await readPage(address));
  }
});

test('scripts import only files that are served', async () => {
  for (const path of ['/baker.js', '/order.js']) {
    const { page } = await readPage(path);
    for (const [, name] of page.toString().matchAll(/from '\.(\/[^']+)'/g)) assert.ok(await readPage(name));
  }
});

test('nothing else can be read', async () => {
  for (const path of ['/package.json', '/.env', '/../server/db.js', '/b/../index.html', '/constructor', '/b/'])
    assert.equal(await readPage(path), undefined);
});
