import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { shapes } from './shapes.tsx';

export function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p className="error" id={id} role="alert">
      <Icon shape={shapes.alert} size={16} />
      {children}
    </p>
  );
}
