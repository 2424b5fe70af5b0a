/** Makes the credential with which runs of a workspace call the managed model router. */
import type { SecretBox } from '../../../platform/core/crypto.ts';
import { withoutTrailingSlashes } from '../../../platform/core/text.ts';
import type { ModelServer } from '../../../platform/models/types.ts';
import { routerKeyOwner, type RouterKeyStore } from './store.ts';

/** The router itself chooses a model, where an agent names none of its own. */
const ROUTER_MODEL = 'openrouter/auto';

interface RouterCredentialOptions {
  routerKeys: Pick<RouterKeyStore, 'find'>;
  secretBox: Pick<SecretBox, 'open'>;
  /** Where it is undefined, the deployment's own models are the router and need no key. */
  url: string | undefined;
}

/** The key is opened for the moment in which it is used, and not kept. */
export const routerCredential =
  ({ routerKeys, secretBox, url }: RouterCredentialOptions) =>
  async (customerId: string): Promise<ModelServer | undefined> => {
    const row = url === undefined ? undefined : await routerKeys.find(customerId);
    if (!url || !row) return undefined;
    return {
      baseUrl: withoutTrailingSlashes(url),
      apiKey: secretBox.open(row.sealed, routerKeyOwner(customerId)),
      model: ROUTER_MODEL,
      isOperators: true,
      isRouter: true,
    };
  };
