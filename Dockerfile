# Hark in a container: text and the bus by default; docs/operating.md shows how, and how it was tried.
FROM debian:13-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv ca-certificates \
 && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
ARG EXTRAS=websocket,nats
RUN python3 -m venv /opt/hark \
 && /opt/hark/bin/pip install --no-cache-dir --disable-pip-version-check "/src[$EXTRAS]" \
 && ln -s /opt/hark/bin/hark /usr/local/bin/hark \
 && rm -rf /src
RUN useradd --system --create-home --home-dir /var/lib/hark hark
USER hark
ENV XDG_STATE_HOME=/var/lib/hark/state XDG_CONFIG_HOME=/var/lib/hark/config
VOLUME /var/lib/hark
STOPSIGNAL SIGTERM
ENTRYPOINT ["hark"]
CMD ["run", "--stay"]
