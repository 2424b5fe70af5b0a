/** Requests about workspaces, as somebody of one of them. */
import { standingIn } from '../../../src/platform/core/rights.ts';
import { INTERNAL_WORKSPACE } from '../../../src/platform/core/ids.ts';
import type { Caller } from '../../../src/platform/http/endpoint.ts';
import { call, sessionFor, type TestService } from '../../support/service/service.ts';

/** Of the workspace that operates the deployment. */
export const INTERNAL: Caller = {
  workspaceId: INTERNAL_WORKSPACE,
  customerId: 'internal',
  actor: 'owner@internal.example',
  standing: standingIn('acc_internal', 'owner'),
};

/** Through the browser proxy. @param path behind `/v1/workspaces` */
export const askAs =
  (service: TestService, caller: Caller, role: 'owner' | 'admin' | 'member' = 'owner') =>
  (method: string, path: string, body?: unknown) =>
    call(
      `${service.baseUrl}/api/v1/cp/v1/workspaces${path}`,
      method,
      { cookie: `service_session=${sessionFor(caller, role)}` },
      body,
    );
