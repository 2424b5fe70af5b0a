/**
 * Texts and stacks of errors as a payload, so that the codec seals them too. Only where there is a codec: elsewhere it
 * would hide them from the Temporal Web UI. CommonJS, since the SDK loads it with `require`.
 */
// eslint-disable-next-line @typescript-eslint/no-require-imports
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
