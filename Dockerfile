# The server's image, for amd64 and arm64. To build it: `docker build -t tunnihind .`. To run it:
#   docker run -p 8080:8080 -v tunnihind:/data --read-only --tmpfs /tmp ghcr.io/tunnihind/tunnihind

FROM python:3.14-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.13 /uv /usr/local/bin/uv
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY server server
COPY custom_components/tunnihind/frontend/chart.js custom_components/tunnihind/frontend/
COPY custom_components/tunnihind/core custom_components/tunnihind/core
# uv installs the tested versions of the packages: pyproject.toml has these versions as constraints.
RUN uv venv --python /usr/local/bin/python3.14 /opt/tunnihind \
 && uv pip install --python /opt/tunnihind --no-cache --compile-bytecode ".[postgresql]"

FROM python:3.14-slim
LABEL org.opencontainers.image.title="Tunnihind" \
      org.opencontainers.image.description="Hourly electricity prices of Estonia, Latvia, Lithuania and Finland, with a probabilistic forecast" \
      org.opencontainers.image.source="https://github.com/tunnihind/tunnihind" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin tunnihind \
 && install --directory --owner=tunnihind --group=tunnihind /data
COPY --from=build /opt/tunnihind /opt/tunnihind
# The local network can't reach a container's own address, so the server doesn't announce it.
ENV PATH=/opt/tunnihind/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TUNNIHIND_ANNOUNCE=no \
    TUNNIHIND_DATABASE_URL=sqlite:////data/tunnihind.db
USER tunnihind
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s CMD ["tunnihind", "healthcheck"]
ENTRYPOINT ["tunnihind"]
CMD ["serve"]
