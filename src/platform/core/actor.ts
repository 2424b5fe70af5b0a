/**
 * Who acts, whichever credential shows it: a session, an access token, an API key, a deploy token, a link or MCP. Records
 * name an actor by one text, and every rule reads that text here:
 *
 * - a **person** is named by e-mail address or, without a confirmed one, by the subject of an access token
 * - a **service** is a credential that programs show, or a part of the deployment; it counts as the person who made it
 * - an **outsider** is named by the address that a gate names and that a link was mailed to; it is no member
 * - an **agent** is named by its slug; it has no credential, so it votes nowhere and answers only webhook gates
 *
 * The functions `person_behind` and `has_say` of the database (`resources/inbox/sql/who_may_answer.sql`) apply the same names to rows: four eyes and
 * quorums count persons, and who was removed or only looks has no say, by whichever credential.
 */

const API_KEY = /^api-key:(\d{1,15})$/;
const DEPLOY_TOKEN = /^deploy-token:\d{1,15}$/;
const DEPLOYMENT = new Set(['operator', 'system', 'identity-provider', 'billing-provider']);

export const apiKeyName = (id: number): string => `api-key:${id}`;
export const deployTokenName = (id: number): string => `deploy-token:${id}`;

/** @returns the id of the API key that has this name; undefined for every other actor */
export const apiKeyIdIn = (name: string): string | undefined => API_KEY.exec(name)?.[1];

/** A service answers only waits that name API keys: all others wait for people. */
export const isService = (name: string): boolean =>
  API_KEY.test(name) || DEPLOY_TOKEN.test(name) || DEPLOYMENT.has(name);

/**
 * Names the bearer of an access token without a confirmed address.
 * @returns a name that is neither an address nor that of a service, whatever the identity provider calls the subject
 */
export const subjectName = (sub: string): string =>
  /[@:*]/.test(sub) || isService(sub) ? `subject:${sub.replaceAll('@', ' at ')}` : sub;

/**
 * Names the holder of a session without an address, who may have been given any subject by a signer elsewhere.
 * @param sub an e-mail address in sessions that this service signs, the name of the token in those of pipelines
 */
export const sessionSubjectName = (sub: string, isPipeline: boolean): string =>
  isPipeline || sub.includes('@') ? sub : subjectName(sub);

/** Two spellings of one address are one actor. An `Idempotency-Key` belongs to the actor that sent it first. */
export const actorKey = (name: string): string => name.toLowerCase();
