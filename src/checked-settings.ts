/** Reads all that a start is told: the settings, and the files that they name. What is wrong is told at once. */
import { ConfigError, loadConfig, type Config } from './platform/core/config.ts';
import { readMcpServers } from './platform/mcp/servers.ts';
import { createEmbedder } from './platform/models/embed.ts';
import { readCatalogue } from './platform/models/known-models.ts';

/** @throws ConfigError with one line for each thing that is wrong */
export function readSettings(env: Record<string, string | undefined>): Config {
  const config = loadConfig(env);
  const checks = [
    () => readCatalogue(config),
    () => readMcpServers(config.MCP_SERVERS),
    () => createEmbedder(config, {}),
  ];
  const faults = checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return [error.message];
    }
  });
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config;
}
