/** Adds `aos memory re-embed`, which moves all stored vectors to the embedding model of the settings. */
import type { Command } from 'commander';
import { withDatabase } from './database.ts';
import { print, printJson, printProgress } from './output.ts';

export function addReEmbedCommand(memory: Command): void {
  memory
    .command('re-embed')
    .description('embed every entry again with the model of the settings; can be broken off and repeated')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Works on DATABASE_URL, else on the database in DATA_DIR, whose service must be stopped meanwhile. Searches go by the old
vectors until the new ones are complete; then restart every process of the service with the same settings. Until it is
restarted a process searches by words and writes entries without vectors: run the command once more, which gives them some.

Example:
  EMBEDDING_PROVIDER=openai EMBEDDING_MODEL=text-embedding-3-small EMBEDDING_DIMENSIONS=1536 aos memory re-embed`,
    )
    .action(run);
}

async function run({ json }: { json?: boolean }): Promise<void> {
  const [{ checkSettings }, { createEmbedder }, { deploymentCredentials }, { mendVectors, reEmbed }] =
    await Promise.all([
      import('../embedded/settings.ts'),
      import('../platform/models/embed.ts'),
      import('../platform/models/catalogue.ts'),
      import('../resources/memory/re-embed.ts'),
    ]);
  const config = checkSettings(process.env);
  const say = (line: unknown) => printProgress(typeof line === 'string' ? line : '', true);
  const embedder = createEmbedder(config, deploymentCredentials(config), { info: say, warn: say, error: say });
  const { model, dimensions, reads, embed, close } = embedder;
  let entries = 0;
  await embedder.start?.();
  let mended = 0;
  const isChanged = await withDatabase(process.env, async (db) => {
    const embedding = {
      model,
      dimensions,
      reads,
      embed,
      onProgress({ done, total }: { done: number; total: number }) {
        entries = total;
        printProgress(`${done} of ${total} entries`, done === total);
      },
    };
    if (await reEmbed(db, embedding)) return true;
    mended = await mendVectors(db, embedding);
    return false;
  }).finally(close);
  if (json) return printJson({ model, dimensions, entries, mended, changed: isChanged });
  print(
    isChanged
      ? `${entries} entries are embedded with ${model} now: restart every process of the service with these settings, then run it once more for what was written meanwhile`
      : `the entries are embedded with ${model} already; mended: ${mended}`,
  );
}
