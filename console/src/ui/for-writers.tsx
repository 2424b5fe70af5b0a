/** Shows its children to those who may change something here. Others see no button, rather than a refusal. */
import type { ReactNode } from 'react';
import { mayChange, useSession } from '../api/session.ts';

export const ForWriters = ({ children, instead }: { children: ReactNode; instead?: ReactNode }) =>
  mayChange(useSession()) ? <>{children}</> : <>{instead}</>;
