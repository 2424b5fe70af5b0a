/**
 * Sends a mail with the artifact as an attachment: whatever is in it, no mail program shows it as a part of the
 * message.
 */
import { Problem } from '../../../platform/core/problem.ts';
import type { Mail, Mailer } from '../../../platform/mail/mailer.ts';
import { SAMPLE_NOTE } from '../../samples/model.ts';
import type { DestinationTarget } from '../contract.ts';
import { fileOf, OutputError, type DeliveredOutput } from './output.ts';

type EmailConfig = Extract<DestinationTarget, { kind: 'email' }>['config'];

/**
 * @param mailer undefined where there is no mail server; what a tenant made is never written to the log instead
 * @throws OutputError
 */
export async function sendMail(
  mailer: Mailer | undefined,
  deliveryId: string,
  mail: Omit<Mail, 'messageId'>,
): Promise<void> {
  if (!mailer) throw new OutputError('the service has no mail server (SMTP_URL)', { isFinal: true });
  try {
    await mailer.send({ ...mail, messageId: `<${deliveryId}@output-destinations>` });
  } catch (error) {
    throw error instanceof Problem ? new OutputError(error.message, { isFinal: false }) : error;
  }
}

export async function sendEmail(
  { mailer, linkTo }: { mailer: Mailer | undefined; linkTo: (projectId: string) => string },
  { to, subject }: EmailConfig,
  output: DeliveredOutput,
): Promise<void> {
  const { deliveryId, project, artifact, isSample } = output;
  const { text, extension, contentType } = fileOf(output);
  await sendMail(mailer, deliveryId, {
    to,
    subject: subject ?? `${project.title}: ${artifact.phaseSlug}`,
    text: [
      `${project.title}: ${artifact.phaseSlug}, version ${artifact.version}, is attached.`,
      ...(isSample ? [SAMPLE_NOTE] : []),
      `All artifacts of the project: ${linkTo(project.id)}`,
    ].join('\n\n'),
    attachments: [{ filename: `${artifact.phaseSlug}.v${artifact.version}.${extension}`, contentType, content: text }],
  });
}
