/** A sandboxed program failed, was ended or was refused. The message is for whoever wrote or called it. */
export class SandboxError extends Error {}
