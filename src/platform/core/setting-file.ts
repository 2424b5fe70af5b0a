/** Reads the JSON of settings that are too large for a line. */
import { readFileSync } from 'node:fs';
import { errorCodeOf } from './causes.ts';
import { ConfigError } from './config.ts';
import { parseJson } from './json.ts';

/** @throws ConfigError that names the setting and the file */
export function readSettingFile(setting: string, path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${setting}: the file ${path} cannot be read (${errorCodeOf(error)}); correct its path`);
  }
  return jsonOfSetting(`${setting}: the file ${path}`, text);
}

/** @throws ConfigError that quotes nothing of the text, because some of these texts have secrets */
export function jsonOfSetting(what: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ConfigError(`${what}: is not valid JSON`);
  }
}
