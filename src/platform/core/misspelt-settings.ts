/** Finds in `.env` what is no setting but nearly one: it would be left out without a word. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { nearest } from './nearest.ts';
import { settings } from './settings.ts';

/** The embedded servers, the command line, and the SDK of Temporal read these. */
const BESIDE_SETTINGS = [
  ...['TEMPORAL_CLI_PATH', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'PGLITE_PORT'],
  ...['PATH', 'AOS_URL', 'AOS_CONTROL_PLANE_URL', 'AOS_API_KEY', 'AOS_SESSION'],
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'],
  ...['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH', 'TEMPORAL_TLS', 'TEMPORAL_TLS_SERVER_NAME'],
  ...['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_CERT_DATA', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ...['TEMPORAL_TLS_CLIENT_KEY_DATA', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH', 'TEMPORAL_TLS_SERVER_CA_CERT_DATA'],
  'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION',
];
/** Whole families of names, of which each SDK knows more than the product. */
const FAMILIES = /^(OTEL|TEMPORAL_GRPC_META)_/;
const KNOWN = [...Object.keys(settings.shape), ...BESIDE_SETTINGS];

/** @returns a line for each; `.env` may have names of other programs too, which are near to none */
export function misspeltSettings(file = '.env'): string[] {
  return namesIn(file).flatMap((name) => {
    if (KNOWN.includes(name) || FAMILIES.test(name)) return [];
    const meant = nearest(name, KNOWN);
    return meant ? [`${name}: there is no such setting; did you mean ${meant}? It is in .env and has no effect`] : [];
  });
}

function namesIn(file: string): string[] {
  try {
    return Object.keys(parseEnv(readFileSync(file, 'utf8')));
  } catch {
    // There is no such file, or it cannot be read, which is the same to whoever loads it.
    return [];
  }
}
