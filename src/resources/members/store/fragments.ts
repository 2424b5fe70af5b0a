/** Parts of statements of other resources that ask who somebody is in a workspace. Addresses are in lower case. */
import { sql, type SQL } from 'drizzle-orm';

type Value = SQL | string;

/** The member with this address, with `email` and `role`, to be joined: of no row where there is none. */
export const memberOf = (customerId: Value, email: Value): SQL => sql`
  lateral (select member.email, member.role from workspace_members member
    where member.customer_id = ${customerId} and member.email = ${email})`;

/** All members of a workspace, with `email` and `role`, to be joined. */
export const membersOf = (customerId: Value): SQL => sql`
  lateral (select member.email, member.role from workspace_members member where member.customer_id = ${customerId})`;

/** Whether the workspace took somebody out who has one of these addresses. */
export const wasRemoved = (customerId: Value, emails: SQL): SQL => sql`
  exists (select from former_members f where f.customer_id = ${customerId} and f.email in (${emails}))`;

/** The address of the member whom the identity provider knows by this subject. */
export const addressOfSubject = (customerId: Value, subject: string): SQL => sql`
  (select email from member_subjects where customer_id = ${customerId} and subject = ${subject})`;

/** Whether the address is a member of any workspace. */
export const isMemberAnywhere = (email: string): SQL => sql`
  exists (select from workspace_members where email = ${email})`;
