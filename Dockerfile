# One image for the API, the worker and the migrations: the command says which. It runs TypeScript as it is, so there
# is no compile step; only the workflow bundle is built, which lets a worker start without bundling, and the console.

FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Native parts come prebuilt, so install scripts have nothing to do here but download a second Node and report usage.
RUN npm ci --omit=dev --ignore-scripts

FROM dependencies AS build
COPY src src
COPY workflows workflows
COPY activities activities
RUN npm run build

FROM node:24.21.0-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY console console
RUN node console/build.mjs

FROM node:24.21.0-bookworm-slim
# The native Temporal client reads the system's certificates, which the slim image has not.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o node -g node /data
WORKDIR /app
ENV NODE_ENV=production \
    NODE_OPTIONS="--import=/app/src/quick-imports.mjs --max-semi-space-size=16" \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    WORKER_BUNDLE=dist/workflow-bundle.js \
    DATA_DIR=/data
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY migrations migrations
COPY src src
# What the service answers from while no model provider is configured.
COPY samples samples
# What the command line follows runs and projects with.
COPY client/src client/src
COPY workflows workflows
COPY activities activities
COPY --from=build /app/dist dist
COPY --from=console /app/.cache/console .cache/console
USER node
VOLUME /data
EXPOSE 8080 8081
# The others: node src/worker.ts, node src/migrate.ts
CMD ["node", "src/api.ts"]
