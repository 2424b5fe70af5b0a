/** Reads the JSON or YAML of settings that are too large for a line. */
import { readFileSync } from 'node:fs';
import type * as Yaml from 'yaml';
import { errorCodeOf } from './causes.ts';
import { ConfigError } from './config.ts';
import { parseJson } from './json.ts';
import { whenUsed } from './when-used.ts';

/** @throws ConfigError that names the setting and the file */
export function readSettingFile(setting: string, path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${setting}: the file ${path} cannot be read (${errorCodeOf(error)}); correct its path`);
  }
  const what = `${setting}: the file ${path}`;
  return /\.ya?ml$/i.test(path) ? yamlOfSetting(what, text) : jsonOfSetting(what, text);
}

const yaml = whenUsed<typeof Yaml>('yaml');

/** @throws ConfigError that names the line, and quotes nothing of the text */
function yamlOfSetting(what: string, text: string): unknown {
  const document = yaml().parseDocument(text);
  const [fault] = document.errors;
  if (fault) throw new ConfigError(`${what}: line ${fault.linePos?.[0].line ?? 1} is not valid YAML (${fault.code})`);
  return document.toJS({ maxAliasCount: 100 });
}

/** @throws ConfigError that quotes nothing of the text, because some of these texts have secrets */
export function jsonOfSetting(what: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ConfigError(`${what}: is not valid JSON`);
  }
}
