/** Reads the YAML files of a folder that ship with the service, each in the form in which a workspace writes its own. */
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { z } from 'zod';

/**
 * Returns what the files say by slug, in the order of `slugs`. It is a Map because a slug comes from an address, and
 * `__proto__` must be as unknown as any other.
 * @param slugs the names of the files without `.yaml`
 * @throws Error that names the file, if one is missing, not listed, of another slug or not of the shape
 */
export async function readShippedFiles<Manifest extends { slug: string }>(
  folder: URL,
  shape: z.ZodType<Manifest>,
  slugs: readonly string[],
): Promise<Map<string, Manifest>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  const forgotten = files.find((name) => !slugs.includes(name.slice(0, -'.yaml'.length)));
  if (forgotten) throw new Error(`${forgotten} is not listed in the index.ts beside it`);
  const manifests = await Promise.all(slugs.map((slug) => readShippedFile(folder, shape, slug)));
  return new Map(manifests.map((manifest) => [manifest.slug, manifest]));
}

async function readShippedFile<Manifest extends { slug: string }>(
  folder: URL,
  shape: z.ZodType<Manifest>,
  slug: string,
): Promise<Manifest> {
  const file = new URL(`${slug}.yaml`, folder);
  const read = shape.safeParse(parse(await readFile(file, 'utf8')));
  if (!read.success) throw new Error(`${file.pathname}: ${read.error.message}`);
  if (read.data.slug !== slug) throw new Error(`${file.pathname} has the slug ${read.data.slug}`);
  return read.data;
}
