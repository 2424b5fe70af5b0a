/** Archives that are not what an export made: each is refused before anything of it is brought, with a word that says why. */
import { expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { checkArchive, type Checked } from '../../../src/resources/imports/archive/check.ts';
import { archiveOf, digest, rowsOf, tarOf, type File } from '../../support/archives/make.ts';

const check = (archive: Buffer, sha256 = digest(archive)): Promise<Checked> =>
  checkArchive(() => Readable.from([archive]), {
    sizeBytes: archive.length,
    sha256,
    signal: new AbortController().signal,
    seen: async () => {},
  });
const RUN = { id: '01kaxv5w6n9m8q7r6s5t4v3w2x', prompt: 'Hello' };
/** So many places are damaged, one at a time. */
const TRIES = 200;
const fine = rowsOf('runs', [RUN]);

// Guards: what the others differ from is taken.
test('an archive that is what it says is taken', async () => {
  expect(await check(await archiveOf([fine]))).toMatchObject({ source: 'acc_source', entries: 3 });
});

// Guards against: a file of an archive that becomes a place of this machine, a key of the store, or anything unknown.
test.each<[string, File]>([
  ['steps upwards', { name: '../../etc/cron.d/x', content: 'x' }],
  ['steps upwards inside', { name: 'files/attachments/../../x', content: 'x' }],
  ['begins at the root', { name: '/etc/passwd', content: 'x' }],
  ['has a backslash', { name: 'files\\attachments\\x', content: 'x' }],
  ['is of a table that there is not', rowsOf('no_such_table', [RUN])],
  ['is of a table that never goes out', rowsOf('otp_challenges', [RUN])],
  ['is of a table of the database itself', rowsOf('pg_authid', [RUN])],
  ['is a file of a table without files', { name: 'files/runs/x', content: 'x' }],
  ['is a link', { name: 'files/attachments/x', type: 'symlink' }],
  ['is a folder', { name: 'files', type: 'directory' }],
  ['is a device', { name: 'files/attachments/x', type: 'character-device' }],
  ['is something else', { name: 'install.sh', content: 'x' }],
])('one with a file whose name %s is refused', async (_what, file) => {
  await expect(check(await archiveOf([file]))).rejects.toMatchObject({ code: 'archive_refused' });
});

// Guards: rows are objects of JSON, nested as deep as the service takes them anywhere.
test.each([
  ['is no JSON', 'nonsense\n'],
  ['is a list', '[1]\n'],
  ['is nested without end', `{"id":${'['.repeat(5_000)}${']'.repeat(5_000)}}\n`],
])('one with a row that %s is refused', async (_what, content) => {
  const archive = await archiveOf([{ name: 'rows/runs/000001.jsonl', content }]);
  await expect(check(archive)).rejects.toMatchObject({ code: 'archive_refused', message: /line 1/ });
});

// Guards: nothing of an archive is believed that its digests do not say.
test('one that was changed on its way is refused', async () => {
  const archive = await archiveOf([fine]);
  await expect(check(archive, digest(Buffer.from('another')))).rejects.toMatchObject({ code: 'archive_damaged' });
  for (const cut of [archive.subarray(0, 100), archive.subarray(0, -20), Buffer.from('no archive at all')]) {
    await expect(check(cut)).rejects.toMatchObject({ code: 'archive_damaged' });
  }
  const sums = `${digest(Buffer.from('another'))}  rows/runs/000001.jsonl\n`;
  await expect(check(await archiveOf([fine], { sums }))).rejects.toMatchObject({ code: 'archive_damaged' });
  await expect(check(await archiveOf([fine], { sums: '' }))).rejects.toMatchObject({ code: 'archive_refused' });
  await expect(check(await archiveOf([fine], { manifest: { sha256sums: 'other' } }))).rejects.toMatchObject({
    code: 'archive_damaged',
  });
  await expect(check(await tarOf([fine]))).rejects.toMatchObject({ code: 'archive_damaged' });
  await expect(check(await archiveOf([fine, fine]))).rejects.toMatchObject({ code: 'archive_refused' });
  await expect(check(await archiveOf([fine], { after: [{ name: 'README.txt' }] }))).rejects.toMatchObject({
    code: 'archive_refused',
  });
});

// Guards: whatever damaged bytes look like, they are told to be damaged; whoever sent them would look for what is not
// wrong.
test('one of which a byte was lost anywhere is said to be damaged', async () => {
  // More than is unpacked at once, so that much of it is looked at before the damage shows.
  const files = Array.from({ length: 40 }, (_, file) => {
    const rows = Array.from({ length: 40 }, (_, n) => ({ ...RUN, prompt: digest(Buffer.from(`${file} ${n}`)) }));
    return { ...rowsOf('runs', rows), name: `rows/runs/${String(file).padStart(6, '0')}.jsonl` };
  });
  const archive = await archiveOf(files);
  const told: Record<string, number> = {};
  for (let at = 0; at < TRIES; at++) {
    const spoiled = Buffer.from(archive);
    const place = Math.floor((at * archive.length) / TRIES);
    spoiled.writeUInt8(spoiled.readUInt8(place) ^ 255, place);
    const code = await check(spoiled).then(
      () => 'taken',
      ({ code }: { code: string }) => code,
    );
    told[code] = (told[code] ?? 0) + 1;
  }
  expect(told).toEqual({ archive_damaged: TRIES });
});

// Guards: an archive of a later release is not half understood.
test('one of another form is named so', async () => {
  for (const manifest of [{ format: 'zip' }, { version: 2 }]) {
    await expect(check(await archiveOf([fine], { manifest }))).rejects.toMatchObject({ code: 'archive_unsupported' });
  }
});

// Guards against: memory and disk that an archive of a few bytes fills.
test('one whose headers ask for memory is refused without it', async () => {
  // A header that extends the next one, and says that it has eight gigabytes; a library would gather them.
  const header = Buffer.alloc(512);
  header.write('PaxHeader', 0);
  header.write('77777777777', 124);
  header.write('x', 156);
  header.write('ustar', 257);
  let sum = 8 * 32;
  for (const [place, byte] of header.entries()) sum += place >= 148 && place < 156 ? 0 : byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  await expect(check(gzipSync(Buffer.concat([header, Buffer.alloc(10_000)])))).rejects.toMatchObject({
    code: 'archive_refused',
  });
  const large = await archiveOf([{ name: 'rows/runs/000001.jsonl', content: Buffer.alloc(65 * 1024 ** 2) }]);
  await expect(check(large)).rejects.toMatchObject({ code: 'archive_refused', message: /more than/ });
});
