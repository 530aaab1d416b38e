import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

export function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p className="error" id={id} role="alert">
      <Icon name="alert" size={16} />
      {children}
    </p>
  );
}
