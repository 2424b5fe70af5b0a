/** Makes archives of workspaces: right ones, and such that lie. */
import { createHash, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

export interface File {
  name: string;
  content?: string | Buffer;
  /** In the place of a plain file. */
  type?: string;
}

const digestOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const digest = (archive: Buffer): string => digestOf(archive);

export async function tarOf(files: readonly File[]): Promise<Buffer> {
  const tar = pack();
  const packed = buffer(tar.pipe(createGzip()));
  for (const { name, content = '', type } of files) {
    const bytes = Buffer.from(content);
    await new Promise<void>((resolve, reject) => {
      const entry = tar.entry(
        { name, size: bytes.length, ...(type !== undefined && { type, linkname: '/etc/passwd' }) },
        (error) => (error ? reject(error) : resolve()),
      );
      // What has no body has no stream to write to.
      if (type === undefined) entry.end(bytes);
    });
  }
  tar.finalize();
  return packed;
}

export interface Lies {
  manifest?: Record<string, unknown>;
  sums?: string;
  /** Behind the manifest. */
  after?: readonly File[];
}

/** With a manifest and a list of digests that fit, but for what is said. */
export function archiveOf(files: readonly File[], { manifest, sums, after = [] }: Lies = {}): Promise<Buffer> {
  const list = sums ?? files.map(({ name, content = '' }) => `${digestOf(Buffer.from(content))}  ${name}\n`).join('');
  const said = {
    format: 'aos-workspace-archive',
    version: 1,
    archive_id: randomUUID(),
    as_of: '2026-11-25T14:31:00.000000Z',
    workspace: { identity_workspace_id: 'acc_source' },
    sha256sums: digestOf(list),
    ...manifest,
  };
  return tarOf([
    ...files,
    { name: 'SHA256SUMS', content: list },
    { name: 'manifest.json', content: JSON.stringify(said) },
    ...after,
  ]);
}

export const rowsOf = (table: string, rows: readonly object[]): File => ({
  name: `rows/${table}/000001.jsonl`,
  content: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
});
