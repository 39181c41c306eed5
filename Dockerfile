# The toolchain of the builder is the one that compiles submissions, too.
FROM golang:1.27.3-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags synctests -trimpath -ldflags='-s -w' -o /out/bin/redeliver .
# The packages that submissions may import, compiled once for all containers.
RUN /out/bin/redeliver prepare /out/packages
# What compiling a submission needs of Go: the command, the tools, two small files.
RUN mkdir -p /out/go/bin /out/go/pkg/tool && cp /usr/local/go/VERSION /usr/local/go/go.env /out/go/ && \
    cp /usr/local/go/bin/go /out/go/bin/ && \
    for t in compile link asm; do \
      mkdir -p "/out/go/pkg/tool/$(go env GOOS)_$(go env GOARCH)" && \
      cp "$(go env GOTOOLDIR)/$t" "/out/go/pkg/tool/$(go env GOOS)_$(go env GOARCH)/" ; \
    done

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /data redeliver && mkdir /data && chown redeliver /data
COPY --from=build /out/bin/redeliver /usr/local/bin/redeliver
COPY --from=build /out/go /usr/local/go
COPY --from=build /out/packages /usr/local/share/redeliver
USER redeliver
VOLUME /data
# Everything that is written lies in the volume: the root file system can be read-only.
ENV PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin GOROOT=/usr/local/go TMPDIR=/data/tmp \
    REDELIVER_ADDR=0.0.0.0:8080 REDELIVER_DATA=/data REDELIVER_PREPARED=/usr/local/share/redeliver
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["redeliver", "health"]
ENTRYPOINT ["redeliver"]
CMD ["serve"]
