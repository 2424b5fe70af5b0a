/**
 * `node --import`: whatever loads the product's database client in this process gets one that records what its statements
 * give (`record.ts`). The folder to record in stands in the address of this module, as processes that tests start keep
 * nothing of the environment but `NODE_OPTIONS`.
 */
import * as nodeModule from 'node:module';

const CLIENT = new URL('../../../src/platform/db/client.ts', import.meta.url).href;
const RECORDED = new URL(`recorded-client.ts${new URL(import.meta.url).search}`, import.meta.url).href;

// Set-up and npm may run on another Node than the tests, one that has no hooks.
nodeModule.registerHooks?.({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url === CLIENT && context.parentURL !== RECORDED ? { ...resolved, url: RECORDED } : resolved;
  },
});
