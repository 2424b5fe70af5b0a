/** Sends what earlier steps made to an address that the project names, once. */
import { ForbiddenAddressError } from '../../../platform/egress/egress.ts';
import { readCapped } from '../../../platform/egress/read-capped.ts';
import { ActionError, type Action } from './action.ts';
import { sourcesOf } from './rendering/sources.ts';

const MAX_REPLY_BYTES = 16 * 1_024;
const TIMEOUT_MS = 30_000;

export const httpPost: Action = {
  name: 'http_post',
  description:
    'POSTs {project_id, title, parts} as JSON to the public https address in the parameter publish_url, parts being ' +
    'the outputs and artifacts before it by slug. Never repeated by itself. Returns {status, url, reply}.',
  effect: 'irreversible',
  async run(context) {
    const { id, title, params } = context.project;
    const url = params.publish_url;
    if (typeof url !== 'string' || !URL.canParse(url)) {
      throw new ActionError('missing address to send to: the parameter "publish_url" must be an https address');
    }
    // A phase and a step may have the same name. The step counts, because it is nearer.
    const parts = Object.fromEntries(
      sourcesOf(context)
        .toReversed()
        .map(({ slug, value }) => [slug, value]),
    );
    if (Object.keys(parts).length === 0) {
      throw new ActionError('missing parts to send: the step waits for none and its phase depends on none');
    }
    const response = await context
      .fetch(
        url,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ project_id: id, title, parts }),
          // The receiver has the content already, and the address that it redirects to must not get it too.
          redirect: 'manual',
          signal: context.signal,
        },
        { totalMs: TIMEOUT_MS },
      )
      .catch((error: unknown) => {
        if (error instanceof ForbiddenAddressError)
          throw new ActionError(`this address is not allowed: ${error.message}`);
        throw error;
      });
    const { bytes } = await readCapped(response, MAX_REPLY_BYTES);
    if (!response.ok) throw new ActionError(`${new URL(url).host} answered with status ${response.status}`);
    return { status: response.status, url, reply: bytes.toString('utf8').replaceAll('\0', '') };
  },
};
