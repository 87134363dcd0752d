# epl-spark as an image: the `epl` command, without Java by default.
#   docker build -t epl-spark .                      the language, the command line, the playground
#   docker build -t epl-spark:spark --target spark . the same with Spark and a Java runtime
# Rules and data are mounted: docker run --rm -v "$PWD:/work:ro" epl-spark check rules/
ARG PYTHON=3.12

FROM python:${PYTHON}-slim-bookworm AS build
WORKDIR /source
COPY setup.cfg pyproject.toml MANIFEST.in LICENSE README.md CHANGELOG.md epl_spark_pygments.py epl_spark_pytest.py ./
COPY epl ./epl
COPY windows ./windows
COPY runtime ./runtime
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 10001 --shell /usr/sbin/nologin epl
WORKDIR /work

FROM base AS spark
# the distribution's current security fixes, not one version
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[spark,fast,delta,serve,rules]" && rm -rf /wheels
USER 10001
ENTRYPOINT ["epl"]
CMD ["--help"]

FROM base AS slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[fast,serve,rules]" && rm -rf /wheels
USER 10001
ENTRYPOINT ["epl"]
CMD ["--help"]
