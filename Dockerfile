# docker build -t streamcheck . && docker run --rm -v "$PWD:/work" streamcheck prove engine.py
FROM python:3.12-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps -w /wheels /source

FROM python:3.12-slim
# A C compiler, for `run --native`; without it all other commands work.
ARG PACKAGES="gcc libc6-dev"
RUN apt-get update -q && apt-get install -yq --no-install-recommends $PACKAGES && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels && useradd --create-home prover
USER prover
WORKDIR /work
ENTRYPOINT ["streamcheck"]
