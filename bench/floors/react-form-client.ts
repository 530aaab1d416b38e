import { createElement } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { ReactForm } from './react-form.ts';

hydrateRoot(document.getElementById('form') as HTMLElement, createElement(ReactForm));
