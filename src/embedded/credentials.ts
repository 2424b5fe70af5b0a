/**
 * `DATA_DIR/credentials.json` says where a running service is and what opens it. The command line and scripts read it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { customerIdOf, INTERNAL_WORKSPACE } from '../platform/core/ids.ts';
import type { Role } from '../platform/core/rights.ts';
import { signSession } from '../platform/http/auth.ts';
import { makeDirectoryDurably, syncDeletion } from '../platform/files/durable.ts';
import { readPrivateJson, writePrivateJson } from './private-file.ts';

export interface Credentials {
  base_url: string | null;
  control_plane_url: string | null;
  /** The address as host:port. */
  temporal_address: string;
  temporal_ui_url: string | null;
  database_url: string;
  api_key: string;
  /** The value of the cookie `service_session`, for the owner of the internal workspace. */
  session_cookie: string;
  /** It is empty where the operator routes are disabled. */
  operator_token: string;
}

const credentialsFile = (dataDir: string): string => join(dataDir, 'credentials.json');

export const readCredentials = (dataDir: string): Promise<Credentials | undefined> =>
  readPrivateJson<Credentials>(credentialsFile(dataDir));

export const writeCredentials = (dataDir: string, credentials: Credentials): Promise<void> =>
  writePrivateJson(credentialsFile(dataDir), credentials);

/** This is the first member of the workspace that operates an embedded deployment, unless the settings name one. */
export const LOCAL_OWNER = 'owner@localhost';

export interface SessionRequest {
  workspaceId?: string;
  email?: string;
  role?: Role;
  ttlMs: number;
}

/** A session of `aos login`, and the service that it is for. */
export interface KeptSession {
  base_url: string;
  session: string;
}

const sessionFile = (dataDir: string): string => join(dataDir, 'session.json');

export const readKeptSession = (dataDir: string): Promise<KeptSession | undefined> =>
  readPrivateJson<KeptSession>(sessionFile(dataDir));

export async function keepSession(dataDir: string, kept: KeptSession): Promise<void> {
  await makeDirectoryDurably(dataDir, { mode: 0o700 });
  await writePrivateJson(sessionFile(dataDir), kept);
}

export async function dropKeptSession(dataDir: string): Promise<void> {
  await rm(sessionFile(dataDir), { force: true });
  // A session that a person has ended must not return.
  await syncDeletion(sessionFile(dataDir));
}

/**
 * Leaves of a data directory's credentials only its own API key. The addresses and sessions in a copy open the service
 * that was copied, which may be running: a command that is meant for the copy would change the original.
 */
export async function forgetService(dataDir: string): Promise<void> {
  await dropKeptSession(dataDir);
  const kept = await readCredentials(dataDir);
  if (!kept) return;
  await writeCredentials(dataDir, {
    base_url: null,
    control_plane_url: null,
    temporal_address: '',
    temporal_ui_url: null,
    database_url: '',
    api_key: kept.api_key,
    session_cookie: '',
    operator_token: '',
  });
}

/** Signs a session that needs no sign-in: whoever holds `SESSION_SECRET` operates the deployment. */
export function makeSession(
  secret: string,
  { workspaceId = INTERNAL_WORKSPACE, email = LOCAL_OWNER, role = 'owner', ttlMs }: SessionRequest,
): string {
  const iat = Date.now() / 1_000;
  const exp = Math.floor(iat + ttlMs / 1_000);
  return signSession(
    { sub: email, email, workspace: workspaceId, customer_id: customerIdOf(workspaceId), role, iat, exp },
    secret,
  );
}
