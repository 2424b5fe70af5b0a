/** People who sign in: as members of workspaces, by the forms and by JSON. */
import { first, present } from '../../../src/platform/core/present.ts';
import { mailbox } from '../../support/service/otp.ts';
import { createLog } from '../../../src/platform/core/log.ts';
import { eventually, type TestService } from '../../support/service/service.ts';
import { newUuid } from '../../../src/platform/core/ids.ts';
import { workspaceMembers } from '../../../src/resources/members/table.ts';
import type { Role } from '../../../src/platform/core/rights.ts';

interface Mail {
  to: string;
  challenge_id: string;
  code: string;
  text: string;
}

/** What was mailed, in its order; pass the log on to the service. */
export function openInbox() {
  const mails: Mail[] = [];
  const destination = {
    write(line: string) {
      mailbox.write(line);
      if (line.includes('"event":"mail"')) mails.push(JSON.parse(line) as Mail);
    },
  };
  const mailOf = (challengeId: string): Promise<Mail> =>
    eventually(() => {
      const mail = mails.find(({ challenge_id }) => challenge_id === challengeId);
      if (!mail) throw new Error('not mailed yet');
      return mail;
    });
  return {
    log: createLog({ level: 'silent', pretty: false, destination }),
    mails,
    codeOf: async (challengeId: string) => (await mailOf(challengeId)).code,
    linkOf: async (challengeId: string) => linkIn((await mailOf(challengeId)).text),
  };
}

/** The address in a mail, and the token in it. */
export function linkIn(text: string): { url: URL; token: string } {
  const url = new URL(present(/https?:\/\/\S+/.exec(text))[0]);
  return { url, token: present(url.searchParams.get('token')) };
}

export const addMember = async ({ runtime }: TestService, customerId: string, email: string, role: Role = 'owner') => {
  const id = newUuid();
  await runtime.db.orm.insert(workspaceMembers).values({ id, customerId, email, role, invitedBy: 'test' });
  return id;
};

type Fields = Record<string, string | string[]>;

export interface Reply {
  status: number;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects is what its assertions say
  json: any;
  headers: Headers;
  /** Set by the answer, with their flags. */
  cookies: Record<string, string>;
  setCookies: string[];
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const setCookies = response.headers.getSetCookie();
  const pairs = setCookies.map((line) => first(line.split(';')).split('=') as [string, string]);
  const json = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
  return {
    status: response.status,
    text,
    json,
    headers: response.headers,
    cookies: Object.fromEntries(pairs),
    setCookies,
  };
}

const cookieHeader = (cookies: Record<string, string>): Record<string, string> =>
  Object.keys(cookies).length === 0
    ? {}
    : {
        cookie: Object.entries(cookies)
          .map(([name, value]) => `${name}=${value}`)
          .join('; '),
      };

interface Sent {
  cookies?: Record<string, string>;
  headers?: Record<string, string>;
}

export const client = ({ baseUrl }: Pick<TestService, 'baseUrl'>) => ({
  get: async (path: string, { cookies = {}, headers = {} }: Sent = {}) =>
    replyOf(
      await fetch(new URL(path, baseUrl), { redirect: 'manual', headers: { ...headers, ...cookieHeader(cookies) } }),
    ),
  /** As a program. */
  json: async (path: string, body: unknown, { cookies = {}, headers = {} }: Sent = {}) =>
    replyOf(
      await fetch(baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers, ...cookieHeader(cookies) },
        body: JSON.stringify(body),
      }),
    ),
  /** As a browser. */
  form: async (path: string, fields: Fields, { cookies = {}, headers = {} }: Sent = {}) => {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) body.append(name, value);
    return replyOf(
      await fetch(baseUrl + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...headers, ...cookieHeader(cookies) },
        body,
      }),
    );
  },
});
