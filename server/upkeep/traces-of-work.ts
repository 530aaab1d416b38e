import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type KindOfWork, onTimedWork, type TimedWork } from '../timed-work.ts';

type SpanOfWork = {
  name: string;
  kind: SpanKind;
  /** Whether it is worth a trace of its own, outside of any request. */
  isRoot?: true;
  attributes: (work: TimedWork) => Attributes;
};

const spansOfWork: Record<KindOfWork, SpanOfWork> = {
  statement: {
    name: 'statement',
    kind: SpanKind.CLIENT,
    attributes: ({ detail = '' }) => ({
      'db.system.name': 'postgresql',
      'db.query.text': detail.replaceAll(/\s+/g, ' ').trim(),
    }),
  },
  passwordHash: { name: 'password hash', kind: SpanKind.INTERNAL, attributes: () => ({}) },
  providerRequest: {
    name: 'provider request',
    kind: SpanKind.CLIENT,
    attributes: ({ detail = '' }) => ({ 'server.address': detail }),
  },
  mail: {
    name: 'mail',
    kind: SpanKind.CLIENT,
    isRoot: true,
    attributes: ({ detail = '' }) => ({ 'vestibule.mail.kind': detail }),
  },
};

/** Makes each piece of timed work a span within that of its request, until the returned function is called. */
export function traceWork(tracer: Tracer, current: AsyncLocalStorage<Span>): () => void {
  const stops = Object.entries(spansOfWork).map(([kind, { name, kind: spanKind, isRoot, attributes }]) =>
    onTimedWork(kind as KindOfWork, (work) => {
      const parent = current.getStore();
      if (!parent && !isRoot) return () => {};
      const options = { kind: spanKind, attributes: attributes(work) };
      const span = tracer.startSpan(name, options, parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT);
      return ({ error }) => {
        // Its message may quote a value.
        if (error !== undefined)
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', typeOf(error));
        span.end();
      };
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

function typeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}
