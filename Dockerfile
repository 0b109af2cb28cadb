# The service as an image: docs/operations.md, "In a container". It holds no MongoDB: CASCADE_MONGO names one.
FROM node:22-bookworm-slim AS build
WORKDIR /cascade
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN npm run build

FROM node:22-bookworm-slim
# By it the sandbox is shut in, where the engine lets an unprivileged user make namespaces.
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap && rm -rf /var/lib/apt/lists/*
WORKDIR /cascade
COPY package.json LICENSE ./
COPY docs docs
COPY bin bin
COPY scripts/node scripts/node
COPY --from=build /cascade/node_modules node_modules
COPY --from=build /cascade/dist dist
ENV NODE_ENV=production
USER node
EXPOSE 8080
ENTRYPOINT ["node", "/cascade/bin/cascade.js"]
CMD ["serve"]
