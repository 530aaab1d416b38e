import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import packageFile from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import type { Sampling } from '../config/traces.ts';
import { isTrustedProxy } from '../http/client-address.ts';
import { routeName } from '../http/request-metrics.ts';
import { limits } from '../limits.ts';
import { traceWork } from './traces-of-work.ts';

export type Traces = {
  /** Makes each request of the app a span. */
  addTo: (app: FastifyInstance) => void;
  /** Sends what is left, as far as the collector takes it. */
  stop: () => Promise<void>;
};

/**
 * Sends traces to the collector that OpenTelemetry's environment variables name. A collector that is away loses traces
 * and nothing else. No attribute holds a query, an address of a person, or a value of a statement.
 */
export function startTraces(
  { traces, trustedProxies }: Pick<Config, 'trustedProxies'> & { traces: Sampling },
  log: FastifyBaseLogger,
): Traces {
  const spanProcessor = new BatchSpanProcessor({ exporter: telling(new OTLPTraceExporter(), log) });
  const provider = new TracerProvider({
    sampler: samplerOf(traces),
    spanProcessors: [spanProcessor],
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'vestibule', 'service.version': packageFile.version }))
      .merge(detectResources({ detectors: [envDetector] })),
  });
  const tracer = provider.getTracer('vestibule', packageFile.version);
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Span>();
  const spans = new WeakMap<FastifyRequest, Span>();
  const stopWork = traceWork(tracer, current);

  /** Only a trusted proxy may say to which trace a request belongs, and whether it is sent. */
  function parentOf({ headers, socket }: FastifyRequest): Context {
    if (!isTrustedProxy(socket.remoteAddress, trustedProxies)) return ROOT_CONTEXT;
    return propagator.extract(ROOT_CONTEXT, headers, {
      keys: (carrier) => Object.keys(carrier),
      get: (carrier, key) => carrier[key],
    });
  }

  function addTo(app: FastifyInstance): void {
    app.addHook('onRequest', (request, _reply, done) => {
      const attributes = {
        'http.request.method': request.method,
        'http.route': request.is404 ? '' : (request.routeOptions.url ?? ''),
        'vestibule.request.id': request.id,
      };
      const name = `${request.method} ${routeName(request)}`;
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parentOf(request));
      spans.set(request, span);
      current.run(span, done);
    });
    // Reading the body leaves the request's asynchronous context.
    app.addHook('preValidation', (request, _reply, done) => current.run(spans.get(request) as Span, done));
    app.addHook('onResponse', (request, reply, done) => {
      const span = spans.get(request);
      span?.setAttribute('http.response.status_code', reply.statusCode);
      if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
      span?.end();
      done();
    });
  }

  async function stop(): Promise<void> {
    stopWork();
    const sent = provider.shutdown().catch(() => {});
    await Promise.race([sent, pause(limits.tracesSentWithin, undefined, { ref: false })]);
  }

  return { addTo, stop };
}

function samplerOf({ isParentBased, share }: Sampling) {
  const root = new TraceIdRatioBasedSampler(share);
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

/** Logs once that the collector does not take traces, and once that it does again. */
function telling(exporter: OTLPTraceExporter, log: FastifyBaseLogger): SpanExporter {
  let isDown = false;
  return {
    export(batch, done) {
      exporter.export(batch, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isDown)
          log.warn({ problem: result.error?.message }, 'the trace collector is down; traces are lost');
        if (!failed && isDown) log.info('the trace collector takes traces again');
        isDown = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}
