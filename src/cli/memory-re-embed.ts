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
vectors until the new ones are complete; then restart every process of the service with the same settings.

Example:
  EMBEDDING_PROVIDER=openai EMBEDDING_MODEL=text-embedding-3-small EMBEDDING_DIMENSIONS=1536 aos memory re-embed`,
    )
    .action(run);
}

async function run({ json }: { json?: boolean }): Promise<void> {
  const [{ checkSettings }, { createEmbedder }, { deploymentCredentials }, { reEmbed }] = await Promise.all([
    import('../embedded/settings.ts'),
    import('../platform/models/embed.ts'),
    import('../platform/models/catalogue.ts'),
    import('../resources/memory/re-embed.ts'),
  ]);
  const config = checkSettings(process.env);
  const { model, dimensions, embed, close } = createEmbedder(config, deploymentCredentials(config));
  let entries = 0;
  const isChanged = await withDatabase(process.env, (db) =>
    reEmbed(db, {
      model,
      dimensions,
      embed,
      onProgress({ done, total }) {
        entries = total;
        printProgress(`${done} of ${total} entries`, done === total);
      },
    }),
  ).finally(close);
  if (json) return printJson({ model, dimensions, entries, changed: isChanged });
  print(
    isChanged
      ? `${entries} entries are embedded with ${model} now: restart every process of the service with these settings`
      : `the entries are embedded with ${model} already`,
  );
}
