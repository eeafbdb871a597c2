# The image of the webhook and the report: one static binary and nothing else, not even a shell.
#
#   docker build -t kubectl-envoyfilter:0.1.0 .
#
# Base images have short names, so that a build takes them from the registry that it is set up for. RUST_IMAGE is one of
# Alpine's, whose own target is musl: C parts (zstd, ring) are compiled by the same compiler, and the binary is static.
# RUNTIME_IMAGE may be any image without a shell, such as distroless/static:nonroot from where you keep it; the binary needs
# nothing of it: it trusts the API server by the service account's certificate, and reads no time zones.
ARG RUST_IMAGE=rust:1-alpine
ARG RUNTIME_IMAGE=scratch

FROM ${RUST_IMAGE} AS build
RUN apk add --no-cache musl-dev
WORKDIR /build
# What the package is made of. Benchmarks and tests are named in Cargo.toml and have to be there; they are not built.
COPY Cargo.toml Cargo.lock build.rs ./
COPY benches benches
COPY tests/it/main.rs tests/it/main.rs
COPY testdata/rules testdata/rules
COPY rules rules
COPY src src
RUN cargo build --release --locked --bin kubectl-envoyfilter \
    && cp target/release/kubectl-envoyfilter / \
    # A binary that asks for a loader would not start below.
    && if readelf -l /kubectl-envoyfilter | grep -q INTERP; then echo "the binary is not static" >&2; exit 1; fi \
    && /kubectl-envoyfilter --version

FROM ${RUNTIME_IMAGE}
COPY --from=build /kubectl-envoyfilter /kubectl-envoyfilter
# The user `nonroot` of distroless images, by number: runAsNonRoot cannot judge a name.
USER 65532:65532
ENTRYPOINT ["/kubectl-envoyfilter"]
CMD ["webhook", "serve"]
